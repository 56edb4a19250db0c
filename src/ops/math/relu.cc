// SPDX-License-Identifier: Apache-2.0
// Relu: max(x, 0); NaN stays NaN.
// https://onnx.ai/onnx/operators/onnx__Relu.html
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct ReluFn {
  template <class T>
  T operator()(T x) const {
    return x < T(0) ? T(0) : x;
  }
};
void Run(RunContext& ctx) { RunUnary<ReluFn, SignedList>(ctx); }

std::optional<OptimDim> Known(InferScope&, std::span<const OptimDim> x) { return onnx_optim::Max(x[0], 0); }
void ShapeRule(InferScope& scope) { UnaryShape(scope, Known); }

}  // namespace

std::span<const OpDef> relu_ops() {
  static const OpDef ops[] = {
      Consuming(UnaryOp("Relu", 1, kFloatTypes, Run, {}, "X", "Y", ShapeRule)),
      UnaryOp("Relu", 6, kFloatTypes | kSignedIntTypes, Run, {}, "X", "Y", ShapeRule),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
