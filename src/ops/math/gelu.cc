// SPDX-License-Identifier: Apache-2.0
// Gelu: x times the normal distribution function of x; with approximate "tanh" the usual approximation of that.
// https://onnx.ai/onnx/operators/onnx__Gelu.html
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct GeluFn {
  bool tanh;
  template <class T>
  T operator()(T x) const {
    const T half = T(0.5) * x;
    if (!tanh) return half * (T(1) + std::erf(x * static_cast<T>(std::numbers::sqrt2 / 2)));
    constexpr double kScale = std::numbers::inv_sqrtpi * std::numbers::sqrt2;
    return half * (T(1) + std::tanh(static_cast<T>(kScale) * (x + static_cast<T>(0.044715) * x * x * x)));
  }
};
void Run(RunContext& ctx) {
  const std::string kind = ctx.attrs().String("approximate", "none");
  if (kind != "none" && kind != "tanh")
    ctx.Fail("attribute 'approximate'", fmt::format("is \"{}\", must be \"none\" or \"tanh\"", kind));
  RunUnary(ctx, GeluFn{kind == "tanh"});
}

}  // namespace

std::span<const OpDef> gelu_ops() {
  static const OpDef ops[] = {
      UnaryOp("Gelu", 20, kFloatTypes, Run, {{"approximate", AttrKind::kString}}),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
