// SPDX-License-Identifier: Apache-2.0
// Reciprocal: 1 / x.
// https://onnx.ai/onnx/operators/onnx__Reciprocal.html
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct ReciprocalFn {
  template <class T>
  T operator()(T x) const {
    return T(1) / x;
  }
};
void Run(RunContext& ctx) { RunUnary<ReciprocalFn>(ctx); }

}  // namespace

std::span<const OpDef> reciprocal_ops() {
  static const OpDef ops[] = {
      Consuming(UnaryOp("Reciprocal", 1, kFloatTypes, Run)),
      UnaryOp("Reciprocal", 6, kFloatTypes, Run),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
