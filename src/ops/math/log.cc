// SPDX-License-Identifier: Apache-2.0
// Log: the natural logarithm of each element; -inf for 0, NaN for a negative one. A denormal is 0 where runs flush
// them. https://onnx.ai/onnx/operators/onnx__Log.html
#include "ops/math/activation_op.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) { RunFunction(ctx, {kernels::FunctionKind::kLog}); }

}  // namespace

std::span<const OpDef> log_ops() {
  static const OpDef ops[] = {
      Consuming(UnaryOp("Log", 1, kFloatTypes, Run, {}, "input", "output")),
      UnaryOp("Log", 6, kFloatTypes, Run, {}, "input", "output"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
