// SPDX-License-Identifier: Apache-2.0
// Tan: the tangent of each element, in radians.
// https://onnx.ai/onnx/operators/onnx__Tan.html
#include <cmath>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct TanFn {
  template <class T>
  T operator()(T x) const {
    return std::tan(x);
  }
};
void Run(RunContext& ctx) { RunUnary<TanFn>(ctx); }

}  // namespace

std::span<const OpDef> tan_ops() {
  static const OpDef ops[] = {
      UnaryOp("Tan", 7, kFloatTypes, Run, {}, "input", "output"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
