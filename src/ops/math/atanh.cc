// SPDX-License-Identifier: Apache-2.0
// Atanh: the inverse hyperbolic tangent of each element; infinite at -1 and 1, NaN beyond.
// https://onnx.ai/onnx/operators/onnx__Atanh.html
#include <cmath>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct AtanhFn {
  template <class T>
  T operator()(T x) const {
    return std::atanh(x);
  }
};
void Run(RunContext& ctx) { RunUnary<AtanhFn>(ctx); }

}  // namespace

std::span<const OpDef> atanh_ops() {
  static const OpDef ops[] = {
      UnaryOp("Atanh", 9, kFloatTypes, Run, {}, "input", "output"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
