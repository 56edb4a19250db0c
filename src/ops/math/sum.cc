// SPDX-License-Identifier: Apache-2.0
// Sum: the sum of any number of inputs, element by element with broadcasting.
// https://onnx.ai/onnx/operators/onnx__Sum.html
#include "ops/math/elementwise_op.h"
#include "ops/math/sum_fn.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  Dispatch(FloatList(), ctx.tensor(0).dtype(), [&]<class T>(std::type_identity<T>) {
    const SumFn fn;
    RunFold(ctx, kernels::BinaryRow<SumFn, T, T, T>, &fn);
  });
}

}  // namespace

std::span<const OpDef> sum_ops() {
  static const OpDef ops[] = {
      Consuming(VariadicOp("Sum", 1, kFloatTypes, Run, "sum")),
      VariadicOp("Sum", 6, kFloatTypes, Run, "sum"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
