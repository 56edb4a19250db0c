// SPDX-License-Identifier: Apache-2.0
// Erf: the error function of each element; of integers, truncated.
// https://onnx.ai/onnx/operators/onnx__Erf.html
#include <cmath>
#include <type_traits>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct ErfFn {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(std::erf(static_cast<double>(x)));
    } else {
      return std::erf(x);
    }
  }
};
void Run(RunContext& ctx) { RunUnary<ErfFn, NumericList>(ctx); }

}  // namespace

std::span<const OpDef> erf_ops() {
  static const OpDef ops[] = {
      UnaryOp("Erf", 9, kNumericTypes, Run, {}, "input", "output"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
