// SPDX-License-Identifier: Apache-2.0
// Abs: x without its sign. The least integer of a type has no positive counterpart and stays.
// https://onnx.ai/onnx/operators/onnx__Abs.html
#include <cmath>
#include <type_traits>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct AbsFn {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::abs(x);
    } else if constexpr (std::is_unsigned_v<T>) {
      return x;
    } else {
      return x < 0 ? WrapSub(T(0), x) : x;
    }
  }
};
void Run(RunContext& ctx) { RunUnary<AbsFn, NumericList>(ctx); }

std::optional<OptimDim> Known(InferScope& scope, std::span<const OptimDim> x) {
  if (scope.context().ProvablyGreaterEqual(x[0], 0)) return x[0];
  if (scope.context().ProvablyGreaterEqual(0, x[0])) return -x[0];
  // The 0 adds nothing but says that no negative number comes out.
  return Max(Max(x[0], -x[0]), 0);
}
void ShapeRule(InferScope& scope) { UnaryShape(scope, Known); }

}  // namespace

std::span<const OpDef> abs_ops() {
  static const OpDef ops[] = {
      Consuming(UnaryOp("Abs", 1, kFloatTypes, Run, {}, "X", "Y", ShapeRule)),
      UnaryOp("Abs", 6, kNumericTypes, Run, {}, "X", "Y", ShapeRule),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
