// SPDX-License-Identifier: Apache-2.0
// Floor: the greatest whole number not above each element.
// https://onnx.ai/onnx/operators/onnx__Floor.html
#include "ops/math/activation_op.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) { RunFunction(ctx, {kernels::FunctionKind::kFloor}); }

void ShapeRule(InferScope& scope) {
  UnaryShape(scope, nullptr, TensorType::kUndefined, onnx_optim::shapes::FloorFloat);
}

}  // namespace

std::span<const OpDef> floor_ops() {
  static const OpDef ops[] = {
      Consuming(UnaryOp("Floor", 1, kFloatTypes, Run, {}, "X", "Y", ShapeRule)),
      UnaryOp("Floor", 6, kFloatTypes, Run, {}, "X", "Y", ShapeRule),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
