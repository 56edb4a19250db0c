// SPDX-License-Identifier: Apache-2.0
// Cos: the cosine of each element, in radians.
// https://onnx.ai/onnx/operators/onnx__Cos.html
#include "ops/math/activation_op.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) { RunFunction(ctx, {kernels::FunctionKind::kCos}); }

}  // namespace

std::span<const OpDef> cos_ops() {
  static const OpDef ops[] = {
      UnaryOp("Cos", 7, kFloatTypes, Run, {}, "input", "output"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
