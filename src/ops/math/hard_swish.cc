// SPDX-License-Identifier: Apache-2.0
// HardSwish: x times x / 6 + 1 / 2 held within [0, 1].
// https://onnx.ai/onnx/operators/onnx__HardSwish.html
#include "ops/math/activation_op.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) { RunFunction(ctx, {kernels::FunctionKind::kHardSwish}); }

}  // namespace

std::span<const OpDef> hard_swish_ops() {
  static const OpDef ops[] = {
      UnaryOp("HardSwish", 14, kFloatTypes, Run),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
