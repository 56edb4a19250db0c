// SPDX-License-Identifier: Apache-2.0
// Sqrt: the square root of each element, NaN for a negative one.
// https://onnx.ai/onnx/operators/onnx__Sqrt.html
#include "ops/math/activation_op.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) { RunFunction(ctx, {kernels::FunctionKind::kSqrt}); }

}  // namespace

std::span<const OpDef> sqrt_ops() {
  static const OpDef ops[] = {
      Consuming(UnaryOp("Sqrt", 1, kFloatTypes, Run)),
      UnaryOp("Sqrt", 6, kFloatTypes, Run),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
