// SPDX-License-Identifier: Apache-2.0
// Ceil: the least whole number not below each element.
// https://onnx.ai/onnx/operators/onnx__Ceil.html
#include "ops/math/activation_op.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) { RunFunction(ctx, {kernels::FunctionKind::kCeil}); }

void ShapeRule(InferScope& scope) { UnaryShape(scope, nullptr, TensorType::kUndefined, onnx_optim::shapes::CeilFloat); }

}  // namespace

std::span<const OpDef> ceil_ops() {
  static const OpDef ops[] = {
      Consuming(UnaryOp("Ceil", 1, kFloatTypes, Run, {}, "X", "Y", ShapeRule)),
      UnaryOp("Ceil", 6, kFloatTypes, Run, {}, "X", "Y", ShapeRule),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
