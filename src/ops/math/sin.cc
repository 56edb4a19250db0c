// SPDX-License-Identifier: Apache-2.0
// Sin: the sine of each element, in radians.
// https://onnx.ai/onnx/operators/onnx__Sin.html
#include "ops/math/activation_op.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) { RunFunction(ctx, {kernels::FunctionKind::kSin}); }

}  // namespace

std::span<const OpDef> sin_ops() {
  static const OpDef ops[] = {
      UnaryOp("Sin", 7, kFloatTypes, Run, {}, "input", "output"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
