// SPDX-License-Identifier: Apache-2.0
// QLinearConv: the convolution of quantised numbers, quantised again by the scale and zero point of the result. Scale
// and zero point of the weights are one number, or one for each channel they give; the bias counts in the product of
// the scales. https://onnx.ai/onnx/operators/onnx__QLinearConv.html
#include "ops/nn/conv_op.h"
#include "ops/quantize/integer_product.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  for (const int i : {1, 6, 7}) CheckOneElement(ctx, i);
  const TensorType type = ctx.tensor(7).dtype();
  const kernels::ByteScale to = ReadByteScale(ctx, 6, 7, type);
  Tensor bias;
  std::vector<float> factors;
  const auto start = [&](const Shape& shape) {
    static_cast<void>(Granularity(ctx, 4, WeightMatrix(ctx.tensor(3)), true));
    factors = LineScales(ctx.tensor(4).View<float>(), shape[1], ctx.tensor(1).View<float>()[0] / to.scale);
    bias = ReadConvBias(ctx, 8, shape[1]);
    return ByteConvResult{ctx.AllocateOutput(0, type, shape).mutable_data(), 1,
                          bias.defined() ? bias.View<int32_t>() : std::span<const int32_t>()};
  };
  IntegerConvolution(ctx, 2, 3, 5, start, [&](int64_t channel, const int32_t* sums, int64_t n, void* y) {
    kernels::ActiveByteRowKernels().requantize(sums, nullptr, factors.data() + channel, 0, n, to, y);
  });
}

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) { return PackConstantByteConv(ctx, 3, 5); }
void ShapeRule(InferScope& scope) { scope.SetTensor(0, scope.InputType(7), ConvShape(scope, 3)); }

constexpr TypeSet kScale{TensorType::kFloat};

}  // namespace

std::span<const OpDef> qlinear_conv_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "QLinearConv",
       .since_version = 10,
       .inputs = {{"x", kByteTypes, "T1"},
                  {"x_scale", kScale},
                  {"x_zero_point", kByteTypes, "T1"},
                  {"w", kByteTypes, "T2"},
                  {"w_scale", kScale},
                  {"w_zero_point", kByteTypes, "T2"},
                  {"y_scale", kScale},
                  {"y_zero_point", kByteTypes, "T3"},
                  {.name = "B", .types = {TensorType::kInt32}, .count = FormalCount::kOptional}},
       .outputs = {{"y", kByteTypes, "T3"}},
       .attributes = ConvAttributes(),
       .shape = ShapeRule,
       .prepare = Prepare,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
