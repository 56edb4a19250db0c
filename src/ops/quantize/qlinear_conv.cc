// SPDX-License-Identifier: Apache-2.0
// QLinearConv: the convolution of quantised numbers, quantised again by the scale and zero point of the result. Scale
// and zero point of the weights are one number, or one for each channel they give; the bias counts in the product of
// the scales. https://onnx.ai/onnx/operators/onnx__QLinearConv.html
#include "kernels/strided/transpose.h"
#include "ops/nn/conv_op.h"
#include "ops/quantize/integer_product.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  for (const int i : {1, 6, 7}) CheckOneElement(ctx, i);
  const TensorType type = ctx.tensor(7).dtype();
  const kernels::ByteScale to = ReadByteScale(ctx, 6, 7, type);
  uint8_t* y = nullptr;
  int64_t channels = 0, out = 0;
  Tensor bias;
  std::vector<float> factors;
  const auto start = [&](const Shape& shape) {
    channels = shape[1];
    out = DimsProduct(shape.dims(), 2, shape.rank());
    const Shape matrix = WeightMatrix(ctx.tensor(3));
    const Granularity granularity(ctx, 4, matrix, true);
    for (int64_t c = 0; c < channels; ++c)
      factors.push_back(ctx.tensor(1).View<float>()[0] / to.scale *
                        ctx.tensor(4).View<float>()[static_cast<size_t>(granularity.PlaceOf(c * matrix[1]))]);
    bias = ReadConvBias(ctx, 8, channels);
    y = static_cast<uint8_t*>(ctx.AllocateOutput(0, type, shape).mutable_data());
  };
  IntegerConvolution(ctx, 2, 3, 5, start, [&](const kernels::PackedByteConv::Sums& s) {
    std::vector<uint8_t> bytes(static_cast<size_t>(s.places * s.channels));
    const int32_t* const added = bias.defined() ? bias.View<int32_t>().data() + s.channel : nullptr;
    for (int64_t o = 0; o < s.places; ++o)
      kernels::ActiveByteRowKernels().requantize(s.sums + o * s.channels, added, factors.data() + s.channel, 1,
                                                 s.channels, to, bytes.data() + o * s.channels);
    kernels::TransposeInto(bytes.data(), s.channels, y + (s.image * channels + s.channel) * out + s.first, out,
                           s.places, s.channels);
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
