// SPDX-License-Identifier: Apache-2.0
// Sign: 1 for a positive element, -1 for a negative one, 0 for 0; NaN stays NaN.
// https://onnx.ai/onnx/operators/onnx__Sign.html
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct SignFn {
  template <class T>
  T operator()(T x) const {
    if (x != x) return x;
    return static_cast<T>((x > T(0) ? 1 : 0) - (x < T(0) ? 1 : 0));
  }
};
void Run(RunContext& ctx) { RunUnary<SignFn, NumericList>(ctx); }

}  // namespace

std::span<const OpDef> sign_ops() {
  static const OpDef ops[] = {
      UnaryOp("Sign", 9, kNumericTypes, Run, {}, "input", "output"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
