// SPDX-License-Identifier: Apache-2.0
// Atan: the arc tangent of each element, in radians.
// https://onnx.ai/onnx/operators/onnx__Atan.html
#include "ops/math/activation_op.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) { RunFunction(ctx, {kernels::FunctionKind::kAtan}); }

}  // namespace

std::span<const OpDef> atan_ops() {
  static const OpDef ops[] = {
      UnaryOp("Atan", 7, kFloatTypes, Run, {}, "input", "output"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
