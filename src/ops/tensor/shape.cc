// SPDX-License-Identifier: Apache-2.0
// Shape: the dims of a tensor as int64; from version 15 on only those in [start, end), where negative ones count from
// the back and all are held within the rank. https://onnx.ai/onnx/operators/onnx__Shape.html
#include <algorithm>

#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct AxisRange {
  int64_t begin, end;
};
AxisRange RangeOf(const NodeAttributes& attrs, int64_t rank) {
  const auto bound = [rank](int64_t axis) { return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank); };
  const int64_t begin = bound(attrs.Int("start", 0));
  return {begin, std::max(begin, bound(attrs.Int("end", rank)))};
}

void Run(RunContext& ctx) {
  const Shape& shape = ctx.tensor(0).shape();
  const auto [begin, end] = RangeOf(ctx.attrs(), shape.rank());
  const std::span<const int64_t> dims =
      shape.dims().subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  ctx.SetOutput(0, Tensor::Of<int64_t>(Shape{end - begin}, dims));
}

void ShapeRule(InferScope& scope) {
  const OptimShape& shape = scope.InputShape(0);
  if (shape.IsUnknown()) return scope.SetTensor(0, TensorType::kInt64, OptimShape{scope.Fresh("rank")});
  const auto [begin, end] = RangeOf(scope.attrs(), static_cast<int64_t>(shape.Rank()));
  const std::vector<OptimDim>& dims = shape.Dims();
  scope.SetOutput(0, ShapeValue::Int64Vector(std::vector<OptimDim>(dims.begin() + begin, dims.begin() + end)));
}

OpDef VersionOf(int since, std::vector<AttrDef> attributes) {
  return {.domain = "",
          .type = "Shape",
          .since_version = since,
          .inputs = {{"data", kAllTypes, "T"}},
          .outputs = {{"shape", {TensorType::kInt64}}},
          .attributes = std::move(attributes),
          .shape = ShapeRule,
          .run = Run};
}

}  // namespace

std::span<const OpDef> shape_ops() {
  static const OpDef ops[] = {
      VersionOf(1, {}),
      VersionOf(15, {{"start", AttrKind::kInt}, {"end", AttrKind::kInt}}),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
