// SPDX-License-Identifier: Apache-2.0
// Add: a + b with broadcasting. Integers wrap.
// https://onnx.ai/onnx/operators/onnx__Add.html
#include "ops/math/axis_broadcast.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct AddFn {
  template <class T>
  T operator()(T a, T b) const {
    return WrapAdd(a, b);
  }
};
void Run(RunContext& ctx) { RunBinary<AddFn>(ctx); }

std::optional<OptimDim> Known(InferScope&, std::span<const OptimDim> x) { return x[0] + x[1]; }
void ShapeRule(InferScope& scope) {
  BroadcastShape(scope, Known, TensorType::kUndefined, onnx_optim::shapes::AddFloats);
}

}  // namespace

std::span<const OpDef> add_ops() {
  static const OpDef ops[] = {
      Consuming(ByAxis<ShapeRule>(BinaryOp("Add", 1, kFloatTypes, Run))),
      ByAxis<ShapeRule>(BinaryOp("Add", 6, kNumericTypes, Run)),
      BinaryOp("Add", 7, kNumericTypes, Run, ShapeRule),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
