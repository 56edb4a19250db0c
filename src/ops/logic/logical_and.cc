// SPDX-License-Identifier: Apache-2.0
// And: both, with broadcasting.
// https://onnx.ai/onnx/operators/onnx__And.html
#include "ops/math/axis_broadcast.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct AndFn {
  bool operator()(bool a, bool b) const { return a && b; }
};
void Run(RunContext& ctx) { RunCompare<AndFn, TypeList<bool>>(ctx); }

std::optional<OptimDim> Known(InferScope&, std::span<const OptimDim> x) {
  if (!x[0].IsInt() || !x[1].IsInt()) return std::nullopt;
  return OptimDim(AndFn()(x[0].AsInt() != 0, x[1].AsInt() != 0) ? 1 : 0);
}
void ShapeRule(InferScope& scope) { BroadcastShape(scope, Known, TensorType::kBool); }

}  // namespace

std::span<const OpDef> logical_and_ops() {
  static const OpDef ops[] = {
      ByAxis<ShapeRule, TensorType::kBool>(CompareOp("And", 1, kBoolType, Run)),
      CompareOp("And", 7, kBoolType, Run, ShapeRule),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
