// SPDX-License-Identifier: Apache-2.0
// Neg: minus x. The least integer of a type is its own negative.
// https://onnx.ai/onnx/operators/onnx__Neg.html
#include <type_traits>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct NegFn {
  template <class T>
  T operator()(T x) const {
    return std::is_floating_point_v<T> ? static_cast<T>(-x) : WrapSub(T(0), x);
  }
};
void Run(RunContext& ctx) { RunUnary<NegFn, SignedList>(ctx); }

std::optional<OptimDim> Known(InferScope&, std::span<const OptimDim> x) { return -x[0]; }
void ShapeRule(InferScope& scope) { UnaryShape(scope, Known); }

}  // namespace

std::span<const OpDef> neg_ops() {
  static const OpDef ops[] = {
      Consuming(UnaryOp("Neg", 1, kFloatTypes, Run, {}, "X", "Y", ShapeRule)),
      UnaryOp("Neg", 6, kFloatTypes | kSignedIntTypes, Run, {}, "X", "Y", ShapeRule),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
