// SPDX-License-Identifier: Apache-2.0
// CumProd: running products along an axis.
// https://onnx.ai/onnx/operators/onnx__CumProd.html
#include <functional>

#include "ops/math/cumulative_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) { RunCumulative(ctx, 1, std::multiplies<>()); }
void ShapeRule(InferScope& scope) {
  SetRunning(scope, 1, [](const OptimDim& a, const OptimDim& b) { return a * b; });
}

}  // namespace

std::span<const OpDef> cum_prod_ops() {
  static const OpDef ops[] = {CumulativeOp("CumProd", 26, Run, ShapeRule)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
