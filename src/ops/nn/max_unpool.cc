// SPDX-License-Identifier: Apache-2.0
// MaxUnpool: each element put where MaxPool found it, 0 elsewhere. Indices count in the shape the window attributes
// lead back to; a greater output_shape keeps that as its first corner.
// https://onnx.ai/onnx/operators/onnx__MaxUnpool.html
#include <fmt/format.h>

#include <algorithm>

#include "base/checked.h"
#include "ops/nn/window_op.h"
#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// The elements of an axis that a pool would make `in` of.
OptimDim UnpooledLength(const WindowAttributes& window, int axis, const OptimDim& in) {
  const auto d = static_cast<size_t>(axis);
  return (in - 1) * window.strides[d] + (window.kernel[d] - window.begin[d] - window.end[d]);
}

void Run(RunContext& ctx) {
  CheckPooled(ctx);
  const Tensor x = ctx.tensor(0), places = ctx.tensor(1);
  if (places.shape() != x.shape())
    ctx.FailInput(
        1, fmt::format("shape {} is not that of the input, {}", places.shape().ToString(), x.shape().ToString()));
  const WindowAttributes window = ReadWindow(ctx.attrs(), x.rank() - 2);
  Shape inner{x.dim(0), x.dim(1)};
  for (int axis = 0; axis < window.axes(); ++axis) {
    const OptimDim length = UnpooledLength(window, axis, x.dim(axis + 2));
    if (!length.IsInt() || length.AsInt() < 0)
      ctx.FailInput(
          0, fmt::format("axis {} of {} elements comes out with {}", axis + 2, x.dim(axis + 2), length.ToString()));
    inner.push_back(length.AsInt());
  }
  Shape shape = inner;
  if (ctx.HasInput(2)) {
    shape = Shape(ReadInts(ctx, 2));
    bool fits = shape.rank() == inner.rank();
    for (int d = 0; fits && d < shape.rank(); ++d) fits = shape[d] >= inner[d];
    if (!fits) ctx.FailInput(2, fmt::format("{} has no room for {}", shape.ToString(), inner.ToString()));
  }
  Tensor y(x.dtype(), shape);
  const int64_t size = CheckedProduct(inner.dims()).value_or(0);
  const std::vector<int64_t> strides = DenseStrides(shape.dims());
  Dispatch(FloatList(), x.dtype(), [&]<class T>(std::type_identity<T>) {
    const std::span<T> to = y.MutableView<T>();
    std::ranges::fill(to, T(0.0f));
    const std::span<const T> from = x.View<T>();
    for (size_t i = 0; i < from.size(); ++i) {
      int64_t place = places.View<int64_t>()[i], at = 0;
      if (place < 0 || place >= size) ctx.FailInput(1, fmt::format("element {} is {}, not in [0, {})", i, place, size));
      for (int d = inner.rank() - 1; d >= 0; --d) {
        at += place % inner[d] * strides[static_cast<size_t>(d)];
        place /= inner[d];
      }
      to[static_cast<size_t>(at)] = from[i];
    }
  });
  ctx.SetOutput(0, std::move(y));
}

void ShapeRule(InferScope& scope) {
  const OptimShape& x = scope.InputShape(0);
  if (!x.IsUnknown() && x.Rank() < 3)
    scope.Fail(scope.InputSubject(0),
               fmt::format("must have rank 3 or more, got {}", InferScope::Describe(scope.Input(0))));
  if (scope.HasInput(2)) {
    const std::optional<std::vector<OptimDim>> sizes = InputSizes(scope, 2);
    if (sizes) return SetLikeInput(scope, 0, OptimShape(*sizes));
    return SetLikeInput(scope, 0, x.IsUnknown() ? x : scope.FreshShape(static_cast<int>(x.Rank())));
  }
  const std::vector<int64_t> kernel = scope.attrs().Ints("kernel_shape");
  if (x.IsUnknown())
    return SetLikeInput(scope, 0, kernel.empty() ? x : scope.FreshShape(static_cast<int>(kernel.size()) + 2));
  const WindowAttributes window = ReadWindow(scope.attrs(), static_cast<int>(x.Rank()) - 2);
  OptimShape y = x;
  for (int axis = 0; axis < window.axes(); ++axis) {
    OptimDim& dim = y[static_cast<size_t>(axis) + 2];
    const OptimDim length = UnpooledLength(window, axis, dim);
    if (length.IsInt() && length.AsInt() < 0)
      scope.Fail(scope.InputSubject(0),
                 fmt::format("axis {} of {} elements comes out with {}", axis + 2, dim.ToString(), length.ToString()));
    dim = length;
  }
  SetLikeInput(scope, 0, std::move(y));
}

}  // namespace

std::span<const OpDef> max_unpool_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "MaxUnpool",
       .since_version = 9,
       .inputs = {{"X", kFloatTypes, "T1"},
                  {"I", {TensorType::kInt64}},
                  {.name = "output_shape", .types = {TensorType::kInt64}, .count = FormalCount::kOptional}},
       .outputs = {{"output", kFloatTypes, "T1"}},
       .attributes = {{"kernel_shape", AttrKind::kInts, true}, {"pads", AttrKind::kInts}, {"strides", AttrKind::kInts}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
