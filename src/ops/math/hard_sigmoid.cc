// SPDX-License-Identifier: Apache-2.0
// HardSigmoid: alpha x + beta held within [0, 1].
// https://onnx.ai/onnx/operators/onnx__HardSigmoid.html
#include "ops/math/activation_op.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  kernels::Activation activation = kernels::Activation::Default(kernels::ActivationKind::kHardSigmoid);
  activation.alpha = ctx.attrs().Float("alpha", 0.2f);
  activation.beta = ctx.attrs().Float("beta", 0.5f);
  RunActivation(ctx, activation);
}

}  // namespace

std::span<const OpDef> hard_sigmoid_ops() {
  static const OpDef ops[] = {
      Consuming(UnaryOp("HardSigmoid", 1, kFloatTypes, Run, {{"alpha", AttrKind::kFloat}, {"beta", AttrKind::kFloat}})),
      UnaryOp("HardSigmoid", 6, kFloatTypes, Run, {{"alpha", AttrKind::kFloat}, {"beta", AttrKind::kFloat}}),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
