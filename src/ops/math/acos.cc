// SPDX-License-Identifier: Apache-2.0
// Acos: the arc cosine of each element, in radians; NaN outside [-1, 1].
// https://onnx.ai/onnx/operators/onnx__Acos.html
#include <cmath>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct AcosFn {
  template <class T>
  T operator()(T x) const {
    return std::acos(x);
  }
};
void Run(RunContext& ctx) { RunUnary<AcosFn>(ctx); }

}  // namespace

std::span<const OpDef> acos_ops() {
  static const OpDef ops[] = {
      UnaryOp("Acos", 7, kFloatTypes, Run, {}, "input", "output"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
