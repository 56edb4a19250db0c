// SPDX-License-Identifier: Apache-2.0
// Not: the other truth value.
// https://onnx.ai/onnx/operators/onnx__Not.html
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct NotFn {
  template <class T>
  T operator()(T x) const {
    return !x;
  }
};
void Run(RunContext& ctx) { RunUnary<NotFn, TypeList<bool>>(ctx); }

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
