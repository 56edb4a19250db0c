// SPDX-License-Identifier: Apache-2.0
#include "ops/op_helpers.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "kernels/strided/strided_copy.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string AxisFact(int64_t axis, int rank) {
  if (rank == 0) return fmt::format("{}: a scalar has no axes", axis);
  return fmt::format("{} is not in [{}, {}]", axis, -rank, rank - 1);
}

}  // namespace

std::vector<int64_t> ReadInts(const RunContext& ctx, int i) {
  const Tensor& t = ctx.tensor(i);
  if (t.rank() > 1) ctx.FailInput(i, fmt::format("must be a vector, got {}", t.TypeString()));
  if (t.dtype() == TensorType::kInt32) {
    const std::span<const int32_t> v = t.View<int32_t>();
    return {v.begin(), v.end()};
  }
  const std::span<const int64_t> v = t.View<int64_t>();
  return {v.begin(), v.end()};
}

int64_t ReadInt(const RunContext& ctx, int i) {
  const Tensor& t = ctx.tensor(i);
  if (t.NumElements() != 1) ctx.FailInput(i, fmt::format("must have one element, got {}", t.TypeString()));
  return t.dtype() == TensorType::kInt32 ? t.View<int32_t>()[0] : t.View<int64_t>()[0];
}

int NormalizeAxis(const RunContext& ctx, int64_t axis, int rank, std::string_view subject) {
  if (axis < -rank || axis >= rank) ctx.Fail(std::string(subject), AxisFact(axis, rank));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::vector<int> NormalizeAxes(const RunContext& ctx, std::span<const int64_t> axes, int rank,
                               std::string_view subject) {
  std::vector<int> result;
  std::vector<char> seen(static_cast<size_t>(rank));
  for (const int64_t axis : axes) {
    result.push_back(NormalizeAxis(ctx, axis, rank, subject));
    if (std::exchange(seen[static_cast<size_t>(result.back())], 1))
      ctx.Fail(std::string(subject), fmt::format("names axis {} twice", result.back()));
  }
  return result;
}

std::vector<int64_t> DenseStrides(std::span<const int64_t> dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= dims[d];
  }
  return strides;
}

int64_t DimsProduct(std::span<const int64_t> dims, int begin, int end) {
  int64_t product = 1;
  for (int d = begin; d < end; ++d) product *= dims[static_cast<size_t>(d)];
  return product;
}

void CopyStrided(RunContext& ctx, const Tensor& from, int64_t offset, std::span<const int64_t> strides, Shape view,
                 const Shape* shape) {
  const Tensor source = from;
  Tensor& out = ctx.AllocateOutput(0, source.dtype(), shape == nullptr ? view : *shape);
  const int64_t n = out.NumElements();
  if (n == 0) return;
  const std::span<const int64_t> dims = view.dims();
  if (source.dtype() == TensorType::kString) {
    kernels::StridedCopyStrings(static_cast<const std::string*>(source.data()) + offset, out.mutable_data(), dims,
                                strides);
    return;
  }
  const size_t size = onnx_optim::BytesOf(source.dtype());
  const auto* data = static_cast<const std::byte*>(source.data()) + static_cast<ptrdiff_t>(size) * offset;
  void* const to = out.mutable_data();
  // Pieces that hold whole rows of the outermost dim keep the tiles of a transpose whole.
  const int64_t outermost = dims.empty() ? 1 : n / dims[0];
  const int64_t grain = std::max<int64_t>(1, kElementGrain / outermost) * outermost;
  ctx.ParallelFor(n, grain,
                  [&](int64_t begin, int64_t end) { kernels::StridedCopy(data, to, dims, strides, size, begin, end); });
}

void SetTensorWithElements(InferScope& scope, int output, TensorType dtype, OptimShape shape, KnownElements elements) {
  scope.SetOutput(output,
                  onnx_optim::shapes::ShapeValue::TensorWithValue(dtype, std::move(shape), std::move(elements)));
}

const KnownElements* InputElements(const InferScope& scope, int i) {
  if (!scope.HasInput(i) || !scope.InputShape(i).IsFullyKnown()) return nullptr;
  return scope.Input(i).Elements();
}

std::optional<std::vector<OptimDim>> InputSizes(InferScope& scope, int i) {
  const std::optional<int> length = scope.HasInput(i) ? ListLength(scope.InputShape(i)) : std::nullopt;
  if (!length) return std::nullopt;
  const KnownElements* elements = scope.Input(i).Elements();
  std::vector<OptimDim> sizes;
  for (size_t k = 0; k < static_cast<size_t>(*length); ++k) {
    const std::optional<OptimDim> size = elements == nullptr ? std::nullopt : (*elements)[k];
    if (size && size->IsInt() && size->AsInt() < 0)
      scope.Fail(scope.InputSubject(i), fmt::format("{} is no dim", size->AsInt()));
    sizes.push_back(size ? *size : scope.Fresh());
    scope.RequireSize(sizes.back());
  }
  return sizes;
}

IntsArgument ReadIntsArgument(const InferScope& scope, std::string_view attribute, int input) {
  IntsArgument argument;
  if (input >= 0) {
    argument.given = scope.HasInput(input);
    if (!argument.given) return argument;
    argument.subject = scope.InputSubject(input);
    argument.values = scope.InputInts(input);
    const OptimShape& shape = scope.InputShape(input);
    if (!shape.IsUnknown() && shape.Rank() <= 1 && shape.IsFullyKnown())
      argument.count = std::max<int64_t>(0, shape.NumElements());
  } else {
    argument.values = scope.attrs().FindInts(attribute);
    argument.given = argument.values.has_value();
    argument.subject = fmt::format("attribute '{}'", attribute);
  }
  if (argument.values) argument.count = static_cast<int64_t>(argument.values->size());
  return argument;
}

std::optional<int> ListLength(const OptimShape& list) {
  if (list.IsUnknown() || list.Rank() != 1 || !list[0].IsInt()) return std::nullopt;
  const int64_t length = list[0].AsInt();
  if (length < 0 || length > static_cast<int64_t>(OptimShape::kMaxRank)) return std::nullopt;
  return static_cast<int>(length);
}

std::vector<int> NormalizeAxes(InferScope& scope, std::span<const int64_t> axes, int rank, std::string_view subject) {
  std::vector<int> result;
  std::vector<char> seen(static_cast<size_t>(rank));
  for (const int64_t axis : axes) {
    if (axis < -rank || axis >= rank) scope.Fail(std::string(subject), AxisFact(axis, rank));
    result.push_back(static_cast<int>(axis < 0 ? axis + rank : axis));
    if (std::exchange(seen[static_cast<size_t>(result.back())], 1))
      scope.Fail(std::string(subject), fmt::format("names axis {} twice", result.back()));
  }
  return result;
}

bool CarriesValues(TensorType dtype) { return dtype == TensorType::kInt64 || dtype == TensorType::kInt32; }

bool Fits(const OptimDim& value, TensorType dtype) {
  if (!value.IsInt() || dtype == TensorType::kInt64) return true;
  return value.AsInt() >= std::numeric_limits<int32_t>::min() && value.AsInt() <= std::numeric_limits<int32_t>::max();
}

void SetLikeInput(InferScope& scope, int output, OptimShape shape) {
  scope.SetTensor(output, scope.InputType(0), std::move(shape));
}

}  // namespace ONNX_LIGHT_NAMESPACE
