// SPDX-License-Identifier: Apache-2.0
// Sinh: the hyperbolic sine of each element.
// https://onnx.ai/onnx/operators/onnx__Sinh.html
#include <cmath>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct SinhFn {
  template <class T>
  T operator()(T x) const {
    return std::sinh(x);
  }
};
void Run(RunContext& ctx) { RunUnary<SinhFn>(ctx); }

}  // namespace

std::span<const OpDef> sinh_ops() {
  static const OpDef ops[] = {
      UnaryOp("Sinh", 9, kFloatTypes, Run, {}, "input", "output"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
