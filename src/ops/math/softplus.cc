// SPDX-License-Identifier: Apache-2.0
// Softplus: log(1 + e^x), without overflow.
// https://onnx.ai/onnx/operators/onnx__Softplus.html
#include "ops/math/activation_op.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const kernels::Activation activation = kernels::Activation::Default(kernels::ActivationKind::kSoftplus);
  RunActivation(ctx, activation);
}

}  // namespace

std::span<const OpDef> softplus_ops() {
  static const OpDef ops[] = {
      UnaryOp("Softplus", 1, kFloatTypes, Run),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
