// SPDX-License-Identifier: Apache-2.0
// Asinh: the inverse hyperbolic sine of each element.
// https://onnx.ai/onnx/operators/onnx__Asinh.html
#include <cmath>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct AsinhFn {
  template <class T>
  T operator()(T x) const {
    return std::asinh(x);
  }
};
void Run(RunContext& ctx) { RunUnary<AsinhFn>(ctx); }

}  // namespace

std::span<const OpDef> asinh_ops() {
  static const OpDef ops[] = {
      UnaryOp("Asinh", 9, kFloatTypes, Run, {}, "input", "output"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
