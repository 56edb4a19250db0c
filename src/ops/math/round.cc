// SPDX-License-Identifier: Apache-2.0
// Round: the nearest whole number; halves go to the even one.
// https://onnx.ai/onnx/operators/onnx__Round.html
#include "ops/math/activation_op.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) { RunFunction(ctx, {kernels::FunctionKind::kRound}); }

void ShapeRule(InferScope& scope) {
  UnaryShape(scope, nullptr, TensorType::kUndefined, onnx_optim::shapes::RoundFloat);
}

}  // namespace

std::span<const OpDef> round_ops() {
  static const OpDef ops[] = {
      UnaryOp("Round", 11, kFloatTypes, Run, {}, "X", "Y", ShapeRule),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
