// SPDX-License-Identifier: Apache-2.0
// AveragePool: the mean of the elements under each window that slides over the axes from 2 on; padding counts as zeros
// with count_include_pad. What a window cut off at the end misses never counts. Ceiling from version 10 on, dilations
// from 19 on. https://onnx.ai/onnx/operators/onnx__AveragePool.html
#include "ops/nn/window_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  CheckPooled(ctx);
  const Tensor x = ctx.tensor(0);
  const bool padded = ctx.attrs().Int("count_include_pad", 0) != 0;
  const kernels::Window window = WindowOver(ctx, ReadWindow(ctx.attrs(), x.rank() - 2), x.shape());
  Shape shape{x.dim(0), x.dim(1)};
  for (const int64_t d : window.out) shape.push_back(d);
  Tensor& y = ctx.AllocateOutput(0, x.dtype(), std::move(shape));
  kernels::AveragePool(x.dtype(), x.data(), y.mutable_data(), x.dim(0) * x.dim(1), window,
                       padded ? kernels::AverageOver::kPadded : kernels::AverageOver::kInputs,
                       [&] { ctx.CheckCancelled(); });
}

}  // namespace

std::span<const OpDef> average_pool_ops() {
  static const OpDef ops[] = {
      PoolOp("AveragePool", 1, kFloatTypes, Run, {}),
      PoolOp("AveragePool", 7, kFloatTypes, Run, {{"count_include_pad", AttrKind::kInt}}),
      PoolOp("AveragePool", 10, kFloatTypes, Run,
             {{"ceil_mode", AttrKind::kInt}, {"count_include_pad", AttrKind::kInt}}),
      PoolOp("AveragePool", 19, kFloatTypes, Run,
             {{"ceil_mode", AttrKind::kInt}, {"count_include_pad", AttrKind::kInt}, {"dilations", AttrKind::kInts}}),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
