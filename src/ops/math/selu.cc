// SPDX-License-Identifier: Apache-2.0
// Selu: gamma x, gamma alpha (e^x - 1) where x is negative.
// https://onnx.ai/onnx/operators/onnx__Selu.html
#include "ops/math/activation_op.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// The defaults are the floats nearest to the constants of the paper that defines the function.
void Run(RunContext& ctx) {
  RunFunction(ctx, {kernels::FunctionKind::kSelu, ctx.attrs().Float("alpha", 1.67326319217681884765625f),
                    ctx.attrs().Float("gamma", 1.05070102214813232421875f)});
}

}  // namespace

std::span<const OpDef> selu_ops() {
  static const OpDef ops[] = {
      Consuming(UnaryOp("Selu", 1, kFloatTypes, Run, {{"alpha", AttrKind::kFloat}, {"gamma", AttrKind::kFloat}})),
      UnaryOp("Selu", 6, kFloatTypes, Run, {{"alpha", AttrKind::kFloat}, {"gamma", AttrKind::kFloat}}),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
