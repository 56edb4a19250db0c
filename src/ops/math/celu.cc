// SPDX-License-Identifier: Apache-2.0
// Celu: x, alpha (e^(x / alpha) - 1) where x is negative. Version 12 takes float alone.
// https://onnx.ai/onnx/operators/onnx__Celu.html
#include "ops/math/activation_op.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) { RunFunction(ctx, {kernels::FunctionKind::kCelu, ctx.attrs().Float("alpha", 1)}); }

}  // namespace

std::span<const OpDef> celu_ops() {
  static const OpDef ops[] = {
      UnaryOp("Celu", 12, kFloatTypes, Run, {{"alpha", AttrKind::kFloat}}),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
