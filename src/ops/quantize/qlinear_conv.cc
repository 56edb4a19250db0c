// SPDX-License-Identifier: Apache-2.0
// QLinearConv: the convolution of quantised numbers, quantised again by the scale and zero point of the result. Scale
// and zero point of the weights are one number, or one for each channel they give; the bias counts in the product of
// the scales. https://onnx.ai/onnx/operators/onnx__QLinearConv.html
#include "kernels/quantize/quantize.h"
#include "ops/as_type.h"
#include "ops/nn/conv_op.h"
#include "ops/quantize/integer_product.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  for (const int i : {1, 6, 7}) CheckOneElement(ctx, i);
  Tensor sums = IntegerConvolution(ctx, 2, 3, 5);
  const int64_t channels = sums.dim(1);
  const Granularity granularity(ctx, 4, WeightMatrix(ctx.tensor(3)), true);
  const Tensor bias = ReadConvBias(ctx, 8, channels);
  if (bias.defined()) AddConvBias<int32_t>(bias, sums);
  const int64_t weights = ctx.tensor(3).NumElements() / std::max<int64_t>(1, channels);
  const int64_t out = DimsProduct(sums.shape().dims(), 2, sums.rank());
  const float x_scale = ctx.tensor(1).View<float>()[0], y_scale = ctx.tensor(6).View<float>()[0];
  const double zero = AsType(ctx.tensor(7), TensorType::kDouble).View<double>()[0];
  Tensor scaled(TensorType::kFloat, sums.shape());
  const int32_t* from = sums.View<int32_t>().data();
  float* to = scaled.MutableView<float>().data();
  for (int64_t plane = 0; plane < sums.dim(0) * channels; ++plane) {
    const int64_t place = granularity.PlaceOf(plane % channels * weights);
    const float scale = x_scale * ctx.tensor(4).View<float>()[static_cast<size_t>(place)];
    for (int64_t i = 0; i < out; ++i) *to++ = static_cast<float>(*from++) * scale;
  }
  const TensorType type = ctx.tensor(7).dtype();
  Tensor& y = ctx.AllocateOutput(0, type, sums.shape());
  kernels::Quantize(scaled.View<float>().data(), &y_scale, &zero, TensorType::kFloat, type, true, y.mutable_data(),
                    {.n = y.NumElements()});
}

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
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
