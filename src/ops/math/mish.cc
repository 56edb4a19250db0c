// SPDX-License-Identifier: Apache-2.0
// Mish: x tanh(log(1 + e^x)).
// https://onnx.ai/onnx/operators/onnx__Mish.html
#include <cmath>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct MishFn {
  template <class T>
  T operator()(T x) const {
    const T softplus = (x > T(0) ? x : T(0)) + std::log1p(std::exp(-std::abs(x)));
    return x * std::tanh(softplus);
  }
};
void Run(RunContext& ctx) { RunUnary<MishFn>(ctx); }

}  // namespace

std::span<const OpDef> mish_ops() {
  static const OpDef ops[] = {
      UnaryOp("Mish", 18, kFloatTypes, Run),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
