// SPDX-License-Identifier: Apache-2.0
// Conv: each output channel the sum, over the input channels of its group and the places of the window, of input times
// weight, plus a bias. Computed as products of the weights with the columns the window sees; halves as floats.
// https://onnx.ai/onnx/operators/onnx__Conv.html
#include "ops/as_type.h"
#include "ops/nn/conv_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const TensorType type = ctx.tensor(0).dtype();
  const Tensor x = Widened(ctx.tensor(0)), w = Widened(ctx.tensor(1));
  Tensor y = Convolve(ctx, x, w);
  const Tensor bias = ReadConvBias(ctx, 2, w.dim(0));
  if (bias.defined()) y.dtype() == TensorType::kDouble ? AddConvBias<double>(bias, y) : AddConvBias<float>(bias, y);
  ctx.SetOutput(0, AsType(y, type));
}

void ShapeRule(InferScope& scope) { SetLikeInput(scope, 0, ConvShape(scope)); }

}  // namespace

std::span<const OpDef> conv_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "Conv",
       .since_version = 1,
       .inputs = {{"X", kFloatTypes, "T"},
                  {"W", kFloatTypes, "T"},
                  {.name = "B", .types = kFloatTypes, .type_var = "T", .count = FormalCount::kOptional}},
       .outputs = {{"Y", kFloatTypes, "T"}},
       .attributes = ConvAttributes(),
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
