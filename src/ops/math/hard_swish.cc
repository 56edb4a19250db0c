// SPDX-License-Identifier: Apache-2.0
// HardSwish: x times x / 6 + 1 / 2 held within [0, 1].
// https://onnx.ai/onnx/operators/onnx__HardSwish.html
#include <cmath>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct HardSwishFn {
  template <class T>
  T operator()(T x) const {
    const T gate = x / T(6) + T(0.5);
    return x * (gate < T(0) ? T(0) : gate > T(1) ? T(1) : gate);
  }
};
void Run(RunContext& ctx) { RunUnary<HardSwishFn>(ctx); }

}  // namespace

std::span<const OpDef> hard_swish_ops() {
  static const OpDef ops[] = {
      UnaryOp("HardSwish", 14, kFloatTypes, Run),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
