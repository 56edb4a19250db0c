// SPDX-License-Identifier: Apache-2.0
// Cosh: the hyperbolic cosine of each element.
// https://onnx.ai/onnx/operators/onnx__Cosh.html
#include <cmath>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct CoshFn {
  template <class T>
  T operator()(T x) const {
    return std::cosh(x);
  }
};
void Run(RunContext& ctx) { RunUnary<CoshFn>(ctx); }

}  // namespace

std::span<const OpDef> cosh_ops() {
  static const OpDef ops[] = {
      UnaryOp("Cosh", 9, kFloatTypes, Run, {}, "input", "output"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
