// SPDX-License-Identifier: Apache-2.0
// Mean: the mean of any number of inputs, element by element with broadcasting.
// https://onnx.ai/onnx/operators/onnx__Mean.html
#include "ops/math/elementwise_op.h"
#include "ops/math/sum_fn.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct DivideFn {
  int count;
  template <class T>
  T operator()(T a) const {
    return a / static_cast<T>(count);
  }
};
void Run(RunContext& ctx) {
  Dispatch(FloatList(), ctx.tensor(0).dtype(), [&]<class T>(std::type_identity<T>) {
    const SumFn sum;
    const DivideFn divide{ctx.input_size()};
    RunFold(ctx, kernels::BinaryRow<SumFn, T, T, T>, &sum, kernels::UnaryRow<DivideFn, T, T>, &divide);
  });
}

}  // namespace

std::span<const OpDef> mean_ops() {
  static const OpDef ops[] = {
      Consuming(VariadicOp("Mean", 1, kFloatTypes, Run, "mean")),
      VariadicOp("Mean", 6, kFloatTypes, Run, "mean"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
