// SPDX-License-Identifier: Apache-2.0
// Min: the smallest of any number of inputs, element by element with broadcasting. NaN wins.
// https://onnx.ai/onnx/operators/onnx__Min.html
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct MinFn {
  template <class T>
  T operator()(T a, T b) const {
    return b < a || b != b ? b : a;
  }
};
void Run(RunContext& ctx) {
  Dispatch(NumericList(), ctx.tensor(0).dtype(), [&]<class T>(std::type_identity<T>) {
    const MinFn fn;
    RunFold(ctx, kernels::BinaryRow<MinFn, T, T, T>, &fn);
  });
}

std::optional<OptimDim> Known(InferScope&, std::span<const OptimDim> x) { return onnx_optim::Min(x); }
void ShapeRule(InferScope& scope) { BroadcastShape(scope, Known); }

}  // namespace

std::span<const OpDef> min_ops() {
  static const OpDef ops[] = {
      Consuming(VariadicOp("Min", 1, kFloatTypes, Run, "min", ShapeRule)),
      VariadicOp("Min", 6, kNumericTypes, Run, "min", ShapeRule),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
