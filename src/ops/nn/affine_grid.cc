// SPDX-License-Identifier: Apache-2.0
// AffineGrid: for each place of an image of the given size, in coordinates from -1 to 1, where an affine map of 2 or 3
// coordinates puts it. -1 and 1 are the outer edges, or with align_corners the centres of the outermost places.
// https://onnx.ai/onnx/operators/onnx__AffineGrid.html
#include <fmt/format.h>

#include "ops/op_helpers.h"
#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// The coordinate of place i of n.
double Coordinate(int64_t i, int64_t n, bool align_corners) {
  const auto place = static_cast<double>(i), count = static_cast<double>(n);
  if (align_corners) return n == 1 ? -1 : -1 + 2 * place / (count - 1);
  return (2 * place + 1) / count - 1;
}

void Run(RunContext& ctx) {
  const Tensor theta = ctx.tensor(0);
  const std::vector<int64_t> size = ReadInts(ctx, 1);
  const int axes = static_cast<int>(size.size()) - 2;
  if (axes != 2 && axes != 3) ctx.FailInput(1, fmt::format("must have 4 or 5 entries, has {}", size.size()));
  if (theta.shape() != Shape{size[0], axes, axes + 1})
    ctx.FailInput(0, fmt::format("must be [{},{},{}], got {}", size[0], axes, axes + 1, theta.TypeString()));
  const bool align = ctx.attrs().Int("align_corners", 0) != 0;
  Shape shape{size[0]};
  int64_t places = 1;
  for (size_t d = 2; d < size.size(); ++d) {
    if (size[d] < 1) ctx.FailInput(1, fmt::format("{} is no size", size[d]));
    shape.push_back(size[d]);
  }
  shape.push_back(axes);
  Tensor y(theta.dtype(), shape);
  for (int d = 0; d < axes; ++d) places *= size[static_cast<size_t>(d) + 2];
  Dispatch(FloatList(), theta.dtype(), [&]<class T>(std::type_identity<T>) {
    const T* map = theta.View<T>().data();
    T* to = y.MutableView<T>().data();
    for (int64_t n = 0; n < size[0]; ++n, map += axes * (axes + 1)) {
      for (int64_t i = 0; i < places; ++i) {
        double at[4] = {};
        int64_t rest = i;
        // The last axis is the first coordinate.
        for (int d = 0; d < axes; ++d) {
          const int64_t length = size[size.size() - 1 - static_cast<size_t>(d)];
          at[d] = Coordinate(rest % length, length, align);
          rest /= length;
        }
        at[axes] = 1;
        for (int r = 0; r < axes; ++r) {
          double sum = 0;
          for (int c = 0; c <= axes; ++c) sum += static_cast<double>(map[r * (axes + 1) + c]) * at[c];
          *to++ = static_cast<T>(sum);
        }
      }
    }
  });
  ctx.SetOutput(0, std::move(y));
}

void ShapeRule(InferScope& scope) {
  const std::optional<std::vector<OptimDim>> size = scope.InputValue(1);
  const OptimShape& theta = scope.InputShape(0);
  if (!size || (size->size() != 4 && size->size() != 5)) {
    const std::optional<int> count = ListLength(scope.InputShape(1));
    OptimShape shape = count ? scope.FreshShape(*count) : OptimShape::Unknown();
    if (count && *count >= 2) shape[static_cast<size_t>(*count) - 1] = OptimDim(*count - 2);
    if (count && *count >= 1 && !theta.IsUnknown() && theta.Rank() == 3) shape[0] = theta[0];
    return SetLikeInput(scope, 0, std::move(shape));
  }
  OptimShape shape{(*size)[0]};
  for (size_t d = 2; d < size->size(); ++d) shape.PushBack((*size)[d]);
  shape.PushBack(OptimDim(static_cast<int64_t>(size->size()) - 2));
  SetLikeInput(scope, 0, std::move(shape));
}

}  // namespace

std::span<const OpDef> affine_grid_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "AffineGrid",
       .since_version = 20,
       .inputs = {{"theta", kFloatTypes, "T1"}, {"size", {TensorType::kInt64}}},
       .outputs = {{"grid", kFloatTypes, "T1"}},
       .attributes = {{"align_corners", AttrKind::kInt}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
