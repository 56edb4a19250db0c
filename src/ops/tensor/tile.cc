// SPDX-License-Identifier: Apache-2.0
// Tile: the input repeated along each axis, repeats[i] times along axis i.
// https://onnx.ai/onnx/operators/onnx__Tile.html
#include <fmt/format.h>

#include "base/checked.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const Tensor in = ctx.tensor(0);
  const std::vector<int64_t> repeats = ReadInts(ctx, 1);
  if (static_cast<int>(repeats.size()) != in.rank())
    ctx.FailInput(1, fmt::format("has {} entries for {} axes", repeats.size(), in.rank()));
  // As a view of twice the axes: [repeat, dim] pairs, the repeats standing still.
  const std::vector<int64_t> dense = DenseStrides(in.shape().dims());
  Shape pairs, shape;
  std::vector<int64_t> strides;
  for (int d = 0; d < in.rank(); ++d) {
    const auto at = static_cast<size_t>(d);
    if (repeats[at] < 0)
      ctx.FailInput(1, fmt::format("element {} is {}; a tensor is not repeated less than 0 times", d, repeats[at]));
    const std::optional<int64_t> dim = CheckedMul(repeats[at], in.dim(d));
    if (!dim) ctx.FailInput(1, fmt::format("element {}, {}, times the dim {} is too large", d, repeats[at], in.dim(d)));
    shape.push_back(*dim);
    pairs.push_back(repeats[at]);
    pairs.push_back(in.dim(d));
    strides.push_back(0);
    strides.push_back(dense[at]);
  }
  CopyStrided(ctx, in, 0, strides, std::move(pairs), &shape);
}

void ShapeRule(InferScope& scope) {
  const OptimShape& in = scope.InputShape(0);
  const KnownElements* known = scope.Input(1).Elements();
  for (size_t d = 0; known != nullptr && d < known->size(); ++d) {
    const std::optional<OptimDim>& times = (*known)[d];
    if (times && times->IsInt() && times->AsInt() < 0)
      scope.Fail(scope.InputSubject(1),
                 fmt::format("element {} is {}; a tensor is not repeated less than 0 times", d, times->AsInt()));
  }
  const std::optional<std::vector<OptimDim>> repeats = InputSizes(scope, 1);
  if (in.IsUnknown())
    return SetLikeInput(scope, 0,
                        repeats ? scope.FreshShape(static_cast<int>(repeats->size())) : OptimShape::Unknown());
  if (!repeats) return SetLikeInput(scope, 0, scope.FreshShape(static_cast<int>(in.Rank())));
  if (repeats->size() != in.Rank())
    scope.Fail(scope.InputSubject(1), fmt::format("has {} entries for {} axes", repeats->size(), in.Rank()));
  OptimShape shape;
  for (size_t d = 0; d < in.Rank(); ++d) shape.PushBack(in[d] * (*repeats)[d]);
  SetLikeInput(scope, 0, std::move(shape));
}

}  // namespace

std::span<const OpDef> tile_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "Tile",
       .since_version = 6,
       .inputs = {{"input", kAllTypes, "T"}, {"repeats", {TensorType::kInt64}}},
       .outputs = {{"output", kAllTypes, "T"}},
       .attributes = {},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
