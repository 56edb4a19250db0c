// SPDX-License-Identifier: Apache-2.0
// Erf: the error function of each element. Integers, allowed by versions before 13, are not taken: no model has them.
// https://onnx.ai/onnx/operators/onnx__Erf.html
#include <cmath>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct ErfFn {
  template <class T>
  T operator()(T x) const {
    return std::erf(x);
  }
};
void Run(RunContext& ctx) { RunUnary<ErfFn>(ctx); }

}  // namespace

std::span<const OpDef> erf_ops() {
  static const OpDef ops[] = {
      UnaryOp("Erf", 9, kFloatTypes, Run, {}, "input", "output"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
