// SPDX-License-Identifier: Apache-2.0
// Sub: a - b with broadcasting. Integers wrap.
// https://onnx.ai/onnx/operators/onnx__Sub.html
#include "ops/math/axis_broadcast.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct SubFn {
  template <class T>
  T operator()(T a, T b) const {
    return WrapSub(a, b);
  }
};
void Run(RunContext& ctx) { RunBinary<SubFn>(ctx); }

std::optional<OptimDim> Known(InferScope&, std::span<const OptimDim> x) { return x[0] - x[1]; }
void ShapeRule(InferScope& scope) {
  BroadcastShape(scope, Known, TensorType::kUndefined, onnx_optim::shapes::SubtractFloats);
}

}  // namespace

std::span<const OpDef> sub_ops() {
  static const OpDef ops[] = {
      Consuming(ByAxis<ShapeRule>(BinaryOp("Sub", 1, kFloatTypes, Run))),
      ByAxis<ShapeRule>(BinaryOp("Sub", 6, kNumericTypes, Run)),
      BinaryOp("Sub", 7, kNumericTypes, Run, ShapeRule),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
