// SPDX-License-Identifier: Apache-2.0
// Softsign: x / (1 + |x|).
// https://onnx.ai/onnx/operators/onnx__Softsign.html
#include "ops/math/activation_op.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const kernels::Activation activation = kernels::Activation::Default(kernels::ActivationKind::kSoftsign);
  RunActivation(ctx, activation);
}

}  // namespace

std::span<const OpDef> softsign_ops() {
  static const OpDef ops[] = {
      UnaryOp("Softsign", 1, kFloatTypes, Run, {}, "input", "output"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
