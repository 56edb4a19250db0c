// SPDX-License-Identifier: Apache-2.0
// Swish: x times the sigmoid of alpha x.
// https://onnx.ai/onnx/operators/onnx__Swish.html
#include <cmath>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct SwishFn {
  float alpha;
  template <class T>
  T operator()(T x) const {
    const T scaled = static_cast<T>(alpha) * x;
    // Never overflows, whatever the sign.
    const T e = std::exp(-std::abs(scaled));
    return x * (scaled < T(0) ? e : T(1)) / (T(1) + e);
  }
};
void Run(RunContext& ctx) { RunUnary(ctx, SwishFn{ctx.attrs().Float("alpha", 1)}); }

}  // namespace

std::span<const OpDef> swish_ops() {
  static const OpDef ops[] = {
      UnaryOp("Swish", 24, kFloatTypes, Run, {{"alpha", AttrKind::kFloat}}),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
