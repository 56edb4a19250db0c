// SPDX-License-Identifier: Apache-2.0
// ThresholdedRelu: x where it is greater than alpha, 0 elsewhere.
// https://onnx.ai/onnx/operators/onnx__ThresholdedRelu.html
#include <cmath>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct ThresholdedReluFn {
  float alpha;
  template <class T>
  T operator()(T x) const {
    return x > static_cast<T>(alpha) ? x : T(0);
  }
};
void Run(RunContext& ctx) { RunUnary(ctx, ThresholdedReluFn{ctx.attrs().Float("alpha", 1)}); }

}  // namespace

std::span<const OpDef> thresholded_relu_ops() {
  static const OpDef ops[] = {
      UnaryOp("ThresholdedRelu", 10, kFloatTypes, Run, {{"alpha", AttrKind::kFloat}}),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
