// SPDX-License-Identifier: Apache-2.0
// Exp: e to the power of each element.
// https://onnx.ai/onnx/operators/onnx__Exp.html
#include "ops/math/activation_op.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) { RunFunction(ctx, {kernels::FunctionKind::kExp}); }

}  // namespace

std::span<const OpDef> exp_ops() {
  static const OpDef ops[] = {
      Consuming(UnaryOp("Exp", 1, kFloatTypes, Run, {}, "input", "output")),
      UnaryOp("Exp", 6, kFloatTypes, Run, {}, "input", "output"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
