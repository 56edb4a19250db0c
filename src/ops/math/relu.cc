// SPDX-License-Identifier: Apache-2.0
// Relu: max(x, 0); NaN stays NaN.
// https://onnx.ai/onnx/operators/onnx__Relu.html
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct ReluFn {
  template <class T>
  T operator()(T x) const {
    return x < T(0) ? T(0) : x;
  }
};
void Run(RunContext& ctx) { RunUnary<ReluFn, SignedList>(ctx); }

}  // namespace

std::span<const OpDef> relu_ops() {
  static const OpDef ops[] = {
      UnaryOp("Relu", 6, kFloatTypes | kSignedIntTypes, Run),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
