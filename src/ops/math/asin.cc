// SPDX-License-Identifier: Apache-2.0
// Asin: the arc sine of each element, in radians; NaN outside [-1, 1].
// https://onnx.ai/onnx/operators/onnx__Asin.html
#include <cmath>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct AsinFn {
  template <class T>
  T operator()(T x) const {
    return std::asin(x);
  }
};
void Run(RunContext& ctx) { RunUnary<AsinFn>(ctx); }

}  // namespace

std::span<const OpDef> asin_ops() {
  static const OpDef ops[] = {
      UnaryOp("Asin", 7, kFloatTypes, Run, {}, "input", "output"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
