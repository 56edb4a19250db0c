// SPDX-License-Identifier: Apache-2.0
// LpPool: the p-norm of the elements under each window that slides over the axes from 2 on. Ceiling and dilations from
// version 18 on.
// https://onnx.ai/onnx/operators/onnx__LpPool.html
#include <fmt/format.h>

#include "ops/nn/window_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  CheckPooled(ctx);
  const Tensor x = ctx.tensor(0);
  const int64_t p = ctx.attrs().Int("p", 2);
  if (p < 1) ctx.Fail("attribute 'p'", fmt::format("is {}, must be 1 or more", p));
  const kernels::Window window = WindowOver(ctx, ReadWindow(ctx.attrs(), x.rank() - 2), x.shape());
  Shape shape{x.dim(0), x.dim(1)};
  for (const int64_t d : window.out) shape.push_back(d);
  Tensor& y = ctx.AllocateOutput(0, x.dtype(), std::move(shape));
  kernels::LpPool(x.dtype(), x.data(), y.mutable_data(), x.dim(0) * x.dim(1), window, p, [&] { ctx.CheckCancelled(); });
}

}  // namespace

std::span<const OpDef> lp_pool_ops() {
  static const OpDef ops[] = {
      PoolOp("LpPool", 2, kFloatTypes, Run, {{"p", AttrKind::kInt}}),
      PoolOp("LpPool", 18, kFloatTypes, Run,
             {{"ceil_mode", AttrKind::kInt}, {"dilations", AttrKind::kInts}, {"p", AttrKind::kInt}}),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
