// SPDX-License-Identifier: Apache-2.0
// Acosh: the inverse hyperbolic cosine of each element; NaN below 1.
// https://onnx.ai/onnx/operators/onnx__Acosh.html
#include <cmath>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct AcoshFn {
  template <class T>
  T operator()(T x) const {
    return std::acosh(x);
  }
};
void Run(RunContext& ctx) { RunUnary<AcoshFn>(ctx); }

}  // namespace

std::span<const OpDef> acosh_ops() {
  static const OpDef ops[] = {
      UnaryOp("Acosh", 9, kFloatTypes, Run, {}, "input", "output"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
