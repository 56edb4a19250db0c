// SPDX-License-Identifier: Apache-2.0
// Tanh: the hyperbolic tangent.
// https://onnx.ai/onnx/operators/onnx__Tanh.html
#include "ops/math/activation_op.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const kernels::Activation activation = kernels::Activation::Default(kernels::ActivationKind::kTanh);
  RunActivation(ctx, activation);
}

}  // namespace

std::span<const OpDef> tanh_ops() {
  static const OpDef ops[] = {
      Consuming(UnaryOp("Tanh", 1, kFloatTypes, Run, {}, "input", "output")),
      UnaryOp("Tanh", 6, kFloatTypes, Run, {}, "input", "output"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
