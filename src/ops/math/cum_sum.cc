// SPDX-License-Identifier: Apache-2.0
// CumSum: running sums along an axis.
// https://onnx.ai/onnx/operators/onnx__CumSum.html
#include <functional>

#include "ops/math/cumulative_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) { RunCumulative(ctx, 0, std::plus<>()); }
void ShapeRule(InferScope& scope) {
  SetRunning(scope, 0, [](const OptimDim& a, const OptimDim& b) { return a + b; });
}

}  // namespace

std::span<const OpDef> cum_sum_ops() {
  static const OpDef ops[] = {CumulativeOp("CumSum", 11, Run, ShapeRule)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
