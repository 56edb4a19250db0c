// SPDX-License-Identifier: Apache-2.0
// Erf: the error function of each element; of integers, truncated.
// https://onnx.ai/onnx/operators/onnx__Erf.html
#include <cmath>

#include "ops/math/activation_op.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct WholeErfFn {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(std::erf(static_cast<double>(x)));
  }
};
void Run(RunContext& ctx) {
  if (onnx_optim::IsFloatTensorType(ctx.tensor(0).dtype()))
    RunFunction(ctx, {kernels::FunctionKind::kErf});
  else
    RunUnary<WholeErfFn, IntList>(ctx);
}

}  // namespace

std::span<const OpDef> erf_ops() {
  static const OpDef ops[] = {
      UnaryOp("Erf", 9, kNumericTypes, Run, {}, "input", "output"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
