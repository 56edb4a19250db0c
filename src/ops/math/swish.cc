// SPDX-License-Identifier: Apache-2.0
// Swish: x times the sigmoid of alpha x.
// https://onnx.ai/onnx/operators/onnx__Swish.html
#include "ops/math/activation_op.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) { RunFunction(ctx, {kernels::FunctionKind::kSwish, ctx.attrs().Float("alpha", 1)}); }

}  // namespace

std::span<const OpDef> swish_ops() {
  static const OpDef ops[] = {
      UnaryOp("Swish", 24, kFloatTypes, Run, {{"alpha", AttrKind::kFloat}}),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
