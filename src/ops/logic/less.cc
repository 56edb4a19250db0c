// SPDX-License-Identifier: Apache-2.0
// Less: a < b with broadcasting, false where either is NaN.
// https://onnx.ai/onnx/operators/onnx__Less.html
#include "ops/math/axis_broadcast.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct LessFn {
  template <class T>
  bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};
void Run(RunContext& ctx) { RunCompare<LessFn>(ctx); }

std::optional<OptimDim> Known(InferScope& scope, std::span<const OptimDim> x) {
  const ShapesContext& context = scope.context();
  if (context.ProvablyGreaterEqual(x[1], x[0] + 1)) return OptimDim(1);
  if (context.ProvablyGreaterEqual(x[0], x[1])) return OptimDim(0);
  return std::nullopt;
}
void ShapeRule(InferScope& scope) { BroadcastShape(scope, Known, TensorType::kBool); }

}  // namespace

std::span<const OpDef> less_ops() {
  static const OpDef ops[] = {
      ByAxis<ShapeRule, TensorType::kBool>(CompareOp("Less", 1, kFloatTypes, Run)),
      CompareOp("Less", 7, kNumericTypes, Run, ShapeRule),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
