// SPDX-License-Identifier: Apache-2.0
// Mish: x tanh(log(1 + e^x)).
// https://onnx.ai/onnx/operators/onnx__Mish.html
#include "ops/math/activation_op.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) { RunFunction(ctx, {kernels::FunctionKind::kMish}); }

}  // namespace

std::span<const OpDef> mish_ops() {
  static const OpDef ops[] = {
      UnaryOp("Mish", 18, kFloatTypes, Run),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
