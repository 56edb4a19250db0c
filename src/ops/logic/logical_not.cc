// SPDX-License-Identifier: Apache-2.0
// Not: the other truth value.
// https://onnx.ai/onnx/operators/onnx__Not.html
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct NotFn {
  uint8_t operator()(uint8_t x) const { return x ^ 1; }
};
// A bool is a byte of 0 or 1, many of which are turned at once.
void Run(RunContext& ctx) {
  const NotFn fn;
  RunRows(ctx, 1, TensorType::kBool, kernels::UnaryRow<NotFn, uint8_t, uint8_t>, &fn);
}

std::optional<OptimDim> Known(InferScope&, std::span<const OptimDim> x) {
  if (!x[0].IsInt()) return std::nullopt;
  return OptimDim(x[0].AsInt() == 0 ? 1 : 0);
}
void ShapeRule(InferScope& scope) { UnaryShape(scope, Known); }

}  // namespace

std::span<const OpDef> logical_not_ops() {
  static const OpDef ops[] = {
      UnaryOp("Not", 1, kBoolType, Run, {}, "X", "Y", ShapeRule),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
