// SPDX-License-Identifier: Apache-2.0
// Flatten: a matrix of the same elements: the dims before `axis` (default 1) make the rows, the others the columns.
// https://onnx.ai/onnx/operators/onnx__Flatten.html
#include <fmt/format.h>

#include "ops/tensor/view_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// axis may be the rank itself: everything is one column then.
std::optional<int> AxisOf(const NodeAttributes& attrs, int rank) {
  const int64_t axis = attrs.Int("axis", 1);
  if (axis < -rank || axis > rank) return std::nullopt;
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}
std::string OutOfRangeFact(const NodeAttributes& attrs, int rank) {
  return fmt::format("{} is not in [{}, {}]", attrs.Int("axis", 1), -rank, rank);
}

void Run(RunContext& ctx) {
  const Shape in = ctx.tensor(0).shape();
  const std::optional<int> axis = AxisOf(ctx.attrs(), in.rank());
  if (!axis) ctx.Fail("attribute 'axis'", OutOfRangeFact(ctx.attrs(), in.rank()));
  SetView(ctx, Shape{DimsProduct(in.dims(), 0, *axis), DimsProduct(in.dims(), *axis, in.rank())});
}

void ShapeRule(InferScope& scope) {
  const OptimShape& in = scope.InputShape(0);
  if (in.IsUnknown()) return SetLikeInput(scope, 0, scope.FreshShape(2));
  const auto rank = static_cast<int>(in.Rank());
  const std::optional<int> axis = AxisOf(scope.attrs(), rank);
  if (!axis) scope.Fail("attribute 'axis'", OutOfRangeFact(scope.attrs(), rank));
  const std::span<const OptimDim> dims(in.Dims());
  const auto rows = static_cast<size_t>(*axis);
  SetViewShape(scope, OptimShape{onnx_optim::Product(dims.first(rows)), onnx_optim::Product(dims.subspan(rows))});
}

}  // namespace

std::span<const OpDef> flatten_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "Flatten",
       .since_version = 1,
       .inputs = {{"input", kAllTypes, "T"}},
       .outputs = {{"output", kAllTypes, "T"}},
       .attributes = {{"axis", AttrKind::kInt}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
