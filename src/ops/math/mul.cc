// SPDX-License-Identifier: Apache-2.0
// Mul: a * b with broadcasting. Integers wrap.
// https://onnx.ai/onnx/operators/onnx__Mul.html
#include "ops/math/axis_broadcast.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct MulFn {
  template <class T>
  T operator()(T a, T b) const {
    return WrapMul(a, b);
  }
};
void Run(RunContext& ctx) { RunBinary<MulFn>(ctx); }

std::optional<OptimDim> Known(InferScope&, std::span<const OptimDim> x) { return x[0] * x[1]; }
void ShapeRule(InferScope& scope) {
  BroadcastShape(scope, Known, TensorType::kUndefined, onnx_optim::shapes::MultiplyFloats);
}

}  // namespace

std::span<const OpDef> mul_ops() {
  static const OpDef ops[] = {
      Consuming(ByAxis<ShapeRule>(BinaryOp("Mul", 1, kFloatTypes, Run))),
      ByAxis<ShapeRule>(BinaryOp("Mul", 6, kNumericTypes, Run)),
      BinaryOp("Mul", 7, kNumericTypes, Run, ShapeRule),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
