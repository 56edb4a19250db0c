// SPDX-License-Identifier: Apache-2.0
// GlobalLpPool: the p-norm of each plane: over the axes from 2 on, which stay with one element. p is a float in version
// 1. https://onnx.ai/onnx/operators/onnx__GlobalLpPool.html
#include <fmt/format.h>

#include <cmath>

#include "ops/nn/global_pool_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const double p = ctx.op().since_version == 1 ? static_cast<double>(ctx.attrs().Float("p", 2))
                                               : static_cast<double>(ctx.attrs().Int("p", 2));
  if (!(p > 0)) ctx.Fail("attribute 'p'", fmt::format("is {}, must be positive", p));
  FoldPlanes(
      ctx, 0,
      [p](double total, double x) {
        const double size = std::abs(x);
        return total + (p == 1 ? size : p == 2 ? size * size : std::pow(size, p));
      },
      [p](double total, int64_t) { return p == 1   ? total
                                          : p == 2 ? std::sqrt(total)
                                                   : std::pow(total, 1 / p); });
}

}  // namespace

std::span<const OpDef> global_lp_pool_ops() {
  static const OpDef ops[] = {GlobalPoolOp("GlobalLpPool", 1, Run, {{"p", AttrKind::kFloat}}),
                              GlobalPoolOp("GlobalLpPool", 2, Run, {{"p", AttrKind::kInt}})};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
