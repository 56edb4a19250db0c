// SPDX-License-Identifier: Apache-2.0
// Multinomial: for each row of unnormalised log probabilities, sample_size classes drawn with these, as int32 or int64.
// https://onnx.ai/onnx/operators/onnx__Multinomial.html
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/as_type.h"
#include "ops/op_helpers.h"
#include "ops/random/random_op.h"
#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

TensorType TypeOf(const NodeAttributes& attrs) {
  const int64_t type = attrs.Int("dtype", 6);
  if (type != 6 && type != 7) FailAttribute("dtype", fmt::format("is {}, must be 6 or 7", type));
  return onnx_optim::DataTypeToTensorType(static_cast<int32_t>(type));
}
int64_t SampleSize(const NodeAttributes& attrs) {
  const int64_t size = attrs.Int("sample_size", 1);
  if (size < 1) FailAttribute("sample_size", fmt::format("is {}, must be 1 or more", size));
  return size;
}

// How much weight the classes up to each have together; each weighs e to its log probability less the greatest.
std::vector<double> Cumulated(const RunContext& ctx, std::span<const double> logs) {
  const double greatest = *std::ranges::max_element(logs);
  std::vector<double> sums;
  double sum = 0;
  for (const double log : logs) {
    if (sums.size() % kElementGrain == 0) ctx.CheckCancelled();
    sums.push_back(sum += std::exp(log - greatest));
  }
  return sums;
}

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  if (x.rank() != 2) ctx.FailInput(0, fmt::format("must be a matrix, got {}", x.TypeString()));
  const int64_t rows = x.dim(0), classes = x.dim(1), samples = SampleSize(ctx.attrs());
  if (rows > 0 && classes == 0) ctx.FailInput(0, "has no classes to draw from");
  const Tensor logs = AsType(x, TensorType::kDouble);
  RandomBits bits = MakeRandomBits(ctx);
  Tensor y(TypeOf(ctx.attrs()), Shape{rows, samples});
  Dispatch(TypeList<int32_t, int64_t>(), y.dtype(), [&]<class T>(std::type_identity<T>) {
    T* to = y.MutableView<T>().data();
    for (int64_t r = 0; r < rows; ++r) {
      const std::vector<double> sums =
          Cumulated(ctx, logs.View<double>().subspan(static_cast<size_t>(r * classes), static_cast<size_t>(classes)));
      if (!std::isfinite(sums.back())) ctx.FailInput(0, fmt::format("row {} gives no probabilities", r));
      for (int64_t s = 0; s < samples; ++s) {
        if (s % kElementGrain == 0) ctx.CheckCancelled();
        const auto drawn = std::ranges::upper_bound(sums, bits.NextUnit() * sums.back()) - sums.begin();
        *to++ = static_cast<T>(std::min<int64_t>(drawn, classes - 1));
      }
    }
  });
  ctx.SetOutput(0, std::move(y));
}

void ShapeRule(InferScope& scope) {
  const OptimShape& x = scope.InputShape(0);
  if (!x.IsUnknown() && x.Rank() != 2)
    scope.Fail(scope.InputSubject(0), fmt::format("must be a matrix, got {}", InferScope::Describe(scope.Input(0))));
  scope.SetTensor(0, TypeOf(scope.attrs()),
                  OptimShape{x.IsUnknown() ? scope.Fresh() : x[0], OptimDim(SampleSize(scope.attrs()))});
}

}  // namespace

std::span<const OpDef> multinomial_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "Multinomial",
       .since_version = 7,
       .inputs = {{"input", kFloatTypes, "T1"}},
       .outputs = {{"output", kIndexTypes, "T2"}},
       .attributes = {{"dtype", AttrKind::kInt}, {"sample_size", AttrKind::kInt}, {"seed", AttrKind::kFloat}},
       .shape = ShapeRule,
       .run = Run,
       .random = true},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
