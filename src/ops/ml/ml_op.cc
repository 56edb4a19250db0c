// SPDX-License-Identifier: Apache-2.0
#include "ops/ml/ml_op.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/indexed/indexed.h"
#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr std::string_view kTransformNames[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};

double Logistic(double x) {
  const double e = std::exp(-std::abs(x));
  return x < 0 ? e / (1 + e) : 1 / (1 + e);
}

// The x below which a standard normal variable is with probability p: an estimate through the inverse of erf, then
// Newton steps, whose number doubles the digits each time.
double Probit(double p) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (!(p >= 0 && p <= 1)) return std::numeric_limits<double>::quiet_NaN();
  if (p == 0) return -kInf;
  if (p == 1) return kInf;
  const double z = 2 * p - 1, a = 0.147;
  const double log = std::log(4 * p * (1 - p)), b = 2 / (std::numbers::pi * a) + log / 2;
  double x = std::copysign(std::sqrt(std::sqrt(b * b - log / a) - b), z) * std::numbers::sqrt2;
  constexpr int kSteps = 4;
  for (int i = 0; i < kSteps; ++i) {
    const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    if (density == 0) break;
    x -= (std::erfc(-x / std::numbers::sqrt2) / 2 - p) / density;
  }
  return x;
}

template <class T>
void TransformRow(PostTransform transform, std::span<T> row) {
  if (row.empty() || transform == PostTransform::kNone) return;
  if (transform == PostTransform::kLogistic || transform == PostTransform::kProbit) {
    for (T& score : row) {
      const auto x = static_cast<double>(score);
      score = static_cast<T>(transform == PostTransform::kProbit ? Probit(x) : Logistic(x));
    }
    return;
  }
  constexpr double kAboutZero = 1e-7;
  const auto max = static_cast<double>(*std::ranges::max_element(row));
  const auto part = [&](T score) {
    const auto x = static_cast<double>(score);
    const bool zero = transform == PostTransform::kSoftmaxZero && std::abs(x) <= kAboutZero;
    return zero ? x * std::exp(-max) : std::exp(x - max);
  };
  double sum = 0;
  for (const T score : row) sum += part(score);
  for (T& score : row) score = static_cast<T>(sum == 0 ? 0.5 : part(score) / sum);
}

}  // namespace

Tensor ReadLabels(const NodeAttributes& attrs, std::string_view ints, std::string_view strings) {
  const std::vector<std::string> texts = attrs.Strings(strings);
  const std::vector<int64_t> numbers = attrs.Ints(ints);
  if (!texts.empty() && !numbers.empty())
    FailAttribute(strings, fmt::format("is given along with '{}', one of them is allowed", ints));
  if (texts.empty() && numbers.empty()) FailAttribute(ints, fmt::format("is required, or '{}'", strings));
  return texts.empty() ? VectorOf(numbers) : VectorOf(texts);
}

namespace {
Sequence Numbers(int64_t count) {
  Sequence numbers(TensorType::kInt64);
  for (int64_t i = 0; i < count; ++i) numbers.Append(Tensor::Scalar(i));
  return numbers;
}
}  // namespace

LabelPlaces::LabelPlaces(const Tensor& labels) : places(labels, Numbers(labels.NumElements())) {}

int64_t CountLabels(const NodeAttributes& attrs, std::string_view ints, std::string_view strings) {
  return static_cast<int64_t>(std::max(attrs.Strings(strings).size(), attrs.Ints(ints).size()));
}

TensorType LabelType(const NodeAttributes& attrs, std::string_view strings) {
  return attrs.Strings(strings).empty() ? TensorType::kInt64 : TensorType::kString;
}

void SetLabels(RunContext& ctx, int i, const Tensor& labels, std::span<const int64_t> best) {
  Tensor& out = ctx.AllocateOutput(i, labels.dtype(), Shape{static_cast<int64_t>(best.size())});
  kernels::GatherRows(out.dtype(), labels.data(), best, 1, out.mutable_data());
}

MlRows ReadRows(const RunContext& ctx, TensorType type) {
  const Tensor& x = ctx.tensor(0);
  if (x.rank() != 1 && x.rank() != 2) ctx.FailInput(0, fmt::format("must have rank 1 or 2, got {}", x.TypeString()));
  MlRows rows;
  rows.count = x.rank() == 1 ? 1 : x.dim(0);
  rows.features = x.dim(x.rank() - 1);
  rows.x = AsType(x, type);
  return rows;
}

OptimDim RowsDim(InferScope& scope) {
  const OptimShape& x = scope.InputShape(0);
  return x.IsUnknown() ? scope.Fresh() : x.Rank() == 2 ? x[0] : OptimDim(1);
}

PostTransform ReadPostTransform(const NodeAttributes& attrs) {
  const std::string name = attrs.String("post_transform", "NONE");
  const auto* found = std::ranges::find(kTransformNames, name);
  if (found == std::end(kTransformNames))
    FailAttribute("post_transform",
                  fmt::format("is \"{}\", must be NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT", name));
  return static_cast<PostTransform>(found - std::begin(kTransformNames));
}

PostTransform ReadPostTransformNumber(const NodeAttributes& attrs) {
  const int64_t number = attrs.Int("post_transform", 0);
  if (number < 0 || number >= static_cast<int64_t>(std::size(kTransformNames)))
    FailAttribute("post_transform", fmt::format("is {}, expected 0 to {}", number, std::size(kTransformNames) - 1));
  return static_cast<PostTransform>(number);
}

void Transform(PostTransform transform, std::span<float> row) { TransformRow(transform, row); }
void Transform(PostTransform transform, std::span<double> row) { TransformRow(transform, row); }

void CheckSameSize(std::string_view name, size_t size, std::string_view other, size_t other_size) {
  if (size != other_size) FailAttribute(name, fmt::format("has {} elements, '{}' has {}", size, other, other_size));
}

}  // namespace ONNX_LIGHT_NAMESPACE
