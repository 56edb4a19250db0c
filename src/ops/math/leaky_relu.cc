// SPDX-License-Identifier: Apache-2.0
// LeakyRelu: x, alpha x where it is negative.
// https://onnx.ai/onnx/operators/onnx__LeakyRelu.html
#include "ops/math/activation_op.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  kernels::Activation activation = kernels::Activation::Default(kernels::ActivationKind::kLeakyRelu);
  activation.alpha = ctx.attrs().Float("alpha", 0.01f);
  RunActivation(ctx, activation);
}

}  // namespace

std::span<const OpDef> leaky_relu_ops() {
  static const OpDef ops[] = {
      Consuming(UnaryOp("LeakyRelu", 1, kFloatTypes, Run, {{"alpha", AttrKind::kFloat}})),
      UnaryOp("LeakyRelu", 6, kFloatTypes, Run, {{"alpha", AttrKind::kFloat}}),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
