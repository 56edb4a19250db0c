// SPDX-License-Identifier: Apache-2.0
// Max: the greatest of any number of inputs, element by element with broadcasting. NaN wins.
// https://onnx.ai/onnx/operators/onnx__Max.html
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct MaxFn {
  template <class T>
  T operator()(T a, T b) const {
    return b > a || b != b ? b : a;
  }
};
void Run(RunContext& ctx) {
  Dispatch(NumericList(), ctx.tensor(0).dtype(), [&]<class T>(std::type_identity<T>) {
    const MaxFn fn;
    RunFold(ctx, kernels::BinaryRow<MaxFn, T, T, T>, &fn);
  });
}

std::optional<OptimDim> Known(InferScope&, std::span<const OptimDim> x) { return onnx_optim::Max(x); }
void ShapeRule(InferScope& scope) { BroadcastShape(scope, Known); }

}  // namespace

std::span<const OpDef> max_ops() {
  static const OpDef ops[] = {
      Consuming(VariadicOp("Max", 1, kFloatTypes, Run, "max", ShapeRule)),
      VariadicOp("Max", 6, kNumericTypes, Run, "max", ShapeRule),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
