// SPDX-License-Identifier: Apache-2.0
// Erf: the error function of each element; of whole numbers, truncated to those.
// https://onnx.ai/onnx/operators/onnx__Erf.html
#include <cmath>

#include "ops/as_type.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct ErfFn {
  template <class T>
  T operator()(T x) const {
    return std::erf(x);
  }
};
void Run(RunContext& ctx) {
  const TensorType type = ctx.tensor(0).dtype();
  if (kFloatTypes.Has(type)) return RunUnary<ErfFn>(ctx);
  Tensor y = AsType(ctx.tensor(0), TensorType::kDouble);
  for (double& element : y.MutableView<double>()) element = std::erf(element);
  ctx.SetOutput(0, AsType(y, type));
}

}  // namespace

std::span<const OpDef> erf_ops() {
  static const OpDef ops[] = {
      UnaryOp("Erf", 9, kNumericTypes, Run, {}, "input", "output"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
