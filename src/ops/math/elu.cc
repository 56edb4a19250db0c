// SPDX-License-Identifier: Apache-2.0
// Elu: x, alpha (e^x - 1) where it is negative.
// https://onnx.ai/onnx/operators/onnx__Elu.html
#include "ops/math/activation_op.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  kernels::Activation activation = kernels::Activation::Default(kernels::ActivationKind::kElu);
  activation.alpha = ctx.attrs().Float("alpha", 1.0f);
  RunActivation(ctx, activation);
}

}  // namespace

std::span<const OpDef> elu_ops() {
  static const OpDef ops[] = {
      Consuming(UnaryOp("Elu", 1, kFloatTypes, Run, {{"alpha", AttrKind::kFloat}})),
      UnaryOp("Elu", 6, kFloatTypes, Run, {{"alpha", AttrKind::kFloat}}),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
