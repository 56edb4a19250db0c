// SPDX-License-Identifier: Apache-2.0
// Div: a / b with broadcasting. Integers are truncated towards zero; a zero divisor among them is an error, and the
// least integer divided by -1 wraps to itself. https://onnx.ai/onnx/operators/onnx__Div.html
#include <limits>
#include <type_traits>

#include "ops/math/axis_broadcast.h"
#include "ops/math/elementwise_op.h"
#include "ops/math/integer_division.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct DivFn {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return a / b;
    } else if constexpr (std::is_signed_v<T>) {
      return b == T(-1) ? WrapSub(T(0), a) : static_cast<T>(a / b);
    } else {
      return static_cast<T>(a / b);
    }
  }
};

void Run(RunContext& ctx) {
  CheckDivisor(ctx);
  RunBinary<DivFn>(ctx);
}

std::optional<OptimDim> Known(InferScope& scope, std::span<const OptimDim> x) {
  const OptimDim& a = x[0];
  const OptimDim& b = x[1];
  if (a.IsInt() && b.IsInt()) {
    if (b.AsInt() == 0 || (b.AsInt() == -1 && a.AsInt() == std::numeric_limits<int64_t>::min())) return std::nullopt;
    return OptimDim(a.AsInt() / b.AsInt());
  }
  // Truncation is the floor only where nothing is negative.
  if (!scope.context().ProvablyGreaterEqual(a, 0) || !scope.context().ProvablyGreaterEqual(b, b.IsInt() ? 1 : 0))
    return std::nullopt;
  if (const std::optional<OptimDim> exact = ExactDiv(a, b)) return exact;
  return FloorDiv(a, b);
}
void ShapeRule(InferScope& scope) {
  BroadcastShape(scope, Known, TensorType::kUndefined, onnx_optim::shapes::DivideFloats);
}

}  // namespace

std::span<const OpDef> div_ops() {
  static const OpDef ops[] = {
      Consuming(ByAxis<ShapeRule>(BinaryOp("Div", 1, kFloatTypes, Run))),
      ByAxis<ShapeRule>(BinaryOp("Div", 6, kNumericTypes, Run)),
      BinaryOp("Div", 7, kNumericTypes, Run, ShapeRule),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
