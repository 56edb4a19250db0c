// SPDX-License-Identifier: Apache-2.0
// GlobalAveragePool: the mean of each plane: over the axes from 2 on, which stay with one element.
// https://onnx.ai/onnx/operators/onnx__GlobalAveragePool.html
#include "ops/nn/global_pool_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  FoldPlanes(
      ctx, 0, [](double total, double x) { return total + x; },
      [](double total, int64_t count) { return total / static_cast<double>(count); });
}

}  // namespace

std::span<const OpDef> global_average_pool_ops() {
  static const OpDef ops[] = {GlobalPoolOp("GlobalAveragePool", 1, Run)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
