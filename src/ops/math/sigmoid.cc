// SPDX-License-Identifier: Apache-2.0
// Sigmoid: 1 / (1 + e^-x).
// https://onnx.ai/onnx/operators/onnx__Sigmoid.html
#include "ops/math/activation_op.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const kernels::Activation activation = kernels::Activation::Default(kernels::ActivationKind::kSigmoid);
  RunActivation(ctx, activation);
}

}  // namespace

std::span<const OpDef> sigmoid_ops() {
  static const OpDef ops[] = {
      Consuming(UnaryOp("Sigmoid", 1, kFloatTypes, Run)),
      UnaryOp("Sigmoid", 6, kFloatTypes, Run),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
