// SPDX-License-Identifier: Apache-2.0
// GlobalLpPool: the p-norm of each plane: over the axes from 2 on, which stay with one element. p is a float in version
// 1. https://onnx.ai/onnx/operators/onnx__GlobalLpPool.html
#include <fmt/format.h>

#include <cmath>

#include "ops/nn/global_pool_op.h"
#include "ops/op_helpers.h"
#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  const double p = ctx.op().since_version == 1 ? static_cast<double>(ctx.attrs().Float("p", 2))
                                               : static_cast<double>(ctx.attrs().Int("p", 2));
  if (!(p > 0)) ctx.Fail("attribute 'p'", fmt::format("is {}, must be positive", p));
  const Planes planes = PlanesOf(ctx);
  Tensor& y = ctx.AllocateOutput(0, x.dtype(), planes.pooled);
  Dispatch(FloatList(), x.dtype(), [&]<class T>(std::type_identity<T>) {
    const T* from = x.View<T>().data();
    for (T& to : y.MutableView<T>()) {
      ctx.CheckCancelled();
      double total = 0;
      for (int64_t i = 0; i < planes.inner; ++i) {
        const double value = std::abs(static_cast<double>(*from++));
        total += p == 1 ? value : p == 2 ? value * value : std::pow(value, p);
      }
      to = static_cast<T>(p == 1 ? total : p == 2 ? std::sqrt(total) : std::pow(total, 1 / p));
    }
  });
}

}  // namespace

std::span<const OpDef> global_lp_pool_ops() {
  static const OpDef ops[] = {GlobalPoolOp("GlobalLpPool", 1, Run, {{"p", AttrKind::kFloat}}),
                              GlobalPoolOp("GlobalLpPool", 2, Run, {{"p", AttrKind::kInt}})};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
