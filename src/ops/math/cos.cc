// SPDX-License-Identifier: Apache-2.0
// Cos: the cosine of each element, in radians.
// https://onnx.ai/onnx/operators/onnx__Cos.html
#include <cmath>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct CosFn {
  template <class T>
  T operator()(T x) const {
    return std::cos(x);
  }
};
void Run(RunContext& ctx) { RunUnary<CosFn>(ctx); }

}  // namespace

std::span<const OpDef> cos_ops() {
  static const OpDef ops[] = {
      UnaryOp("Cos", 7, kFloatTypes, Run, {}, "input", "output"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
