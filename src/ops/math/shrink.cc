// SPDX-License-Identifier: Apache-2.0
// Shrink: x + bias below -lambd, x - bias above lambd, 0 between. Integers are computed as double, the result is
// rounded towards 0 and held within the type. https://onnx.ai/onnx/operators/onnx__Shrink.html
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct ShrinkFn {
  float bias, lambd;
  template <class T>
  T operator()(T x) const {
    using C = std::conditional_t<std::is_integral_v<T>, double, T>;
    const C value = static_cast<C>(x), threshold = static_cast<C>(lambd);
    const C moved = value < -threshold  ? value + static_cast<C>(bias)
                    : value > threshold ? value - static_cast<C>(bias)
                                        : C(0);
    if constexpr (std::is_integral_v<T>) {
      // The greatest 64-bit integers are no doubles; one beyond them is.
      if (!(moved > static_cast<double>(std::numeric_limits<T>::min()))) return std::numeric_limits<T>::min();
      if (moved >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
      return static_cast<T>(moved);
    } else {
      return moved;
    }
  }
};
void Run(RunContext& ctx) {
  RunUnary<ShrinkFn, NumericList>(ctx, {ctx.attrs().Float("bias", 0), ctx.attrs().Float("lambd", 0.5f)});
}

}  // namespace

std::span<const OpDef> shrink_ops() {
  static const OpDef ops[] = {
      UnaryOp("Shrink", 9, kNumericTypes, Run, {{"bias", AttrKind::kFloat}, {"lambd", AttrKind::kFloat}}, "input",
              "output"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
