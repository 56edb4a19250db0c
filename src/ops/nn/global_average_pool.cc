// SPDX-License-Identifier: Apache-2.0
// GlobalAveragePool: the mean of each plane: over the axes from 2 on, which stay with one element.
// https://onnx.ai/onnx/operators/onnx__GlobalAveragePool.html
#include "ops/nn/global_pool_op.h"
#include "ops/reduce/reduce_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  const Planes planes = PlanesOf(ctx);
  Tensor& y = ctx.AllocateOutput(0, x.dtype(), planes.pooled);
  const kernels::ReduceFns sum = kReduceSum.fns(x.dtype());
  Dispatch(FloatList(), x.dtype(), [&]<class T>(std::type_identity<T>) {
    const T* from = x.View<T>().data();
    for (T& to : y.MutableView<T>()) {
      ctx.CheckCancelled();
      double total = 0;
      sum.fold(from, &total, planes.inner, 1);
      from += planes.inner;
      to = static_cast<T>(total / static_cast<double>(planes.inner));
    }
  });
}

}  // namespace

std::span<const OpDef> global_average_pool_ops() {
  static const OpDef ops[] = {GlobalPoolOp("GlobalAveragePool", 1, Run)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
