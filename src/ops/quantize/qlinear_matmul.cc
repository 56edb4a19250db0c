// SPDX-License-Identifier: Apache-2.0
// QLinearMatMul: the matrix product of quantised matrices, quantised again by the scale and zero point of the result.
// Scales and zero points of the operands are one number, or one for each row of a, or column of b. Floats
// of 8 bits are multiplied as float. https://onnx.ai/onnx/operators/onnx__QLinearMatMul.html
#include <fmt/format.h>

#include <algorithm>

#include "kernels/quantize/quantize.h"
#include "ops/as_type.h"
#include "ops/quantize/integer_product.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const TensorType type = ctx.tensor(7).dtype();
  const bool bytes =
      kByteTypes.Has(ctx.tensor(0).dtype()) && kByteTypes.Has(ctx.tensor(3).dtype()) && kByteTypes.Has(type);
  const Tensor sums = bytes ? IntegerProduct(ctx, 0, 2, 3, 5) : QuantizedProduct(ctx, 0, 2, 3, 5);
  for (const int i : {6, 7}) CheckOneElement(ctx, i);
  // A list by matrix would need the batch of its operand, which broadcasts.
  for (const int i : {1, 4})
    if (ctx.tensor(i).rank() > 1 && ctx.tensor(i).NumElements() > 1)
      ctx.FailInput(i, fmt::format("must be a scalar or a vector, got {}", ctx.tensor(i).TypeString()));
  const Tensor a_scale = AsType(ctx.tensor(1), TensorType::kFloat), b_scale = AsType(ctx.tensor(4), TensorType::kFloat);
  // The result of a vector has no rows, or no columns, of its own.
  const bool a_vector = ctx.tensor(0).rank() == 1, b_vector = ctx.tensor(3).rank() == 1;
  Shape matrix = sums.shape();
  if (b_vector) matrix.push_back(1);
  if (a_vector) matrix.insert(matrix.rank() - 1, 1);
  const Granularity rows(ctx, 1, matrix, true), columns(ctx, 4, matrix, false);
  const int64_t width = matrix[matrix.rank() - 1];
  std::vector<float> column_scales;
  for (int64_t j = 0; j < width; ++j)
    column_scales.push_back(b_scale.View<float>()[static_cast<size_t>(columns.PlaceOf(j))]);
  const auto row_scale = [&](int64_t line) {
    return a_scale.View<float>()[static_cast<size_t>(rows.PlaceOf(line * width))];
  };
  Tensor& y = ctx.AllocateOutput(0, type, sums.shape());
  if (y.NumElements() == 0) return;
  const int64_t lines = y.NumElements() / width;
  if (bytes) {
    const kernels::ByteScale to = ReadByteScale(ctx, 6, 7, type);
    auto* const bytes_to = static_cast<uint8_t*>(y.mutable_data());
    ctx.ParallelFor(lines, std::max<int64_t>(1, kElementGrain / width), [&](int64_t begin, int64_t end) {
      std::vector<float> factors(column_scales.size());
      float scale = 0;
      for (int64_t line = begin; line < end; ++line) {
        if (const float own = row_scale(line); line == begin || own != scale) {
          scale = own;
          std::ranges::transform(column_scales, factors.begin(), [&](float column) { return scale * column; });
        }
        kernels::ActiveByteRowKernels().requantize(sums.View<int32_t>().data() + line * width, nullptr, factors.data(),
                                                   1, width, to, bytes_to + line * width);
      }
    });
    return;
  }
  Tensor scaled(TensorType::kFloat, sums.shape());
  const float* sum = sums.View<float>().data();
  float* to = scaled.MutableView<float>().data();
  for (int64_t line = 0; line < lines; ++line)
    for (const float column : column_scales) *to++ = *sum++ * row_scale(line) * column;
  const float scale = AsType(ctx.tensor(6), TensorType::kFloat).View<float>()[0];
  const double zero = AsType(ctx.tensor(7), TensorType::kDouble).View<double>()[0];
  kernels::Quantize(scaled.View<float>().data(), &scale, &zero, TensorType::kFloat, type, true, y.mutable_data(),
                    {.n = y.NumElements()});
}

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) { return PackConstantBytes(ctx, 3); }
void ShapeRule(InferScope& scope) { ProductShape(scope, 0, 3, scope.InputType(7)); }

OpDef VersionOf(int since, TypeSet matrix, TypeSet scale) {
  return {.domain = "",
          .type = "QLinearMatMul",
          .since_version = since,
          .inputs = {{"a", matrix, "T1"},
                     {"a_scale", scale, "TS"},
                     {"a_zero_point", matrix, "T1"},
                     {"b", matrix, "T2"},
                     {"b_scale", scale, "TS"},
                     {"b_zero_point", matrix, "T2"},
                     {"y_scale", scale, "TS"},
                     {"y_zero_point", matrix, "T3"}},
          .outputs = {{"y", matrix, "T3"}},
          .attributes = {},
          .shape = ShapeRule,
          .prepare = Prepare,
          .run = Run};
}

}  // namespace

std::span<const OpDef> qlinear_matmul_ops() {
  static const OpDef ops[] = {
      VersionOf(10, kByteTypes, {TensorType::kFloat}),
      VersionOf(21, kByteTypes | kFloat8Types, {TensorType::kFloat, TensorType::kFloat16, TensorType::kBfloat16}),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
