// SPDX-License-Identifier: Apache-2.0
// ConvInteger: the convolution of 8-bit integers less their zero points, as int32, which wraps. The zero point of the
// weights is one number, or one for each channel they give. https://onnx.ai/onnx/operators/onnx__ConvInteger.html
#include <algorithm>

#include "ops/nn/conv_op.h"
#include "ops/quantize/integer_product.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const auto start = [&](const Shape& shape) {
    return ByteConvResult{ctx.AllocateOutput(0, TensorType::kInt32, shape).mutable_data(), sizeof(int32_t)};
  };
  IntegerConvolution(ctx, 2, 1, 3, start, [](int64_t /*channel*/, const int32_t* sums, int64_t n, void* y) {
    std::copy_n(sums, n, static_cast<int32_t*>(y));
  });
}
std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) { return PackConstantByteConv(ctx, 1, 3); }
void ShapeRule(InferScope& scope) { scope.SetTensor(0, TensorType::kInt32, ConvShape(scope)); }

}  // namespace

std::span<const OpDef> conv_integer_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "ConvInteger",
       .since_version = 10,
       .inputs = {{"x", kByteTypes, "T1"},
                  {"w", kByteTypes, "T2"},
                  {.name = "x_zero_point", .types = kByteTypes, .type_var = "T1", .count = FormalCount::kOptional},
                  {.name = "w_zero_point", .types = kByteTypes, .type_var = "T2", .count = FormalCount::kOptional}},
       .outputs = {{"y", {TensorType::kInt32}}},
       .attributes = ConvAttributes(),
       .shape = ShapeRule,
       .prepare = Prepare,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
