// SPDX-License-Identifier: Apache-2.0
// QLinearMatMul: the matrix product of quantised matrices, quantised again by the scale and zero point of the result.
// Scales and zero points of the operands are one number, or one for each row of a, or column of b. Floats
// of 8 bits are multiplied as float. https://onnx.ai/onnx/operators/onnx__QLinearMatMul.html
#include <fmt/format.h>

#include <utility>

#include "kernels/quantize/quantize.h"
#include "ops/as_type.h"
#include "ops/quantize/integer_product.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const TensorType type = ctx.tensor(7).dtype();
  const bool bytes =
      kByteTypes.Has(ctx.tensor(0).dtype()) && kByteTypes.Has(ctx.tensor(3).dtype()) && kByteTypes.Has(type);
  const PlannedProduct plan = PlanProduct(ctx, 0, 3);
  for (const int i : {6, 7}) CheckOneElement(ctx, i);
  // A list by matrix would need the batch of its operand, which broadcasts.
  for (const int i : {1, 4})
    if (ctx.tensor(i).rank() > 1 && ctx.tensor(i).NumElements() > 1)
      ctx.FailInput(i, fmt::format("must be a scalar or a vector, got {}", ctx.tensor(i).TypeString()));
  const int64_t rows = plan.product.m, width = plan.product.n;
  for (const auto& [i, is_row] : {std::pair{1, true}, {4, false}}) Granularity(ctx, i, Shape{rows, width}, is_row);
  const Tensor a_scale = AsType(ctx.tensor(1), TensorType::kFloat), b_scale = AsType(ctx.tensor(4), TensorType::kFloat);
  const std::span<const float> row_scales = a_scale.View<float>();
  const bool by_row = row_scales.size() > 1;
  Tensor& y = ctx.AllocateOutput(0, type, plan.shape);
  if (y.NumElements() == 0) return;
  const float own = by_row ? 1 : row_scales[0];
  if (bytes) {
    const kernels::ByteScale to = ReadByteScale(ctx, 6, 7, type);
    auto* const bytes_to = static_cast<uint8_t*>(y.mutable_data());
    std::vector<float> factors = LineScales(b_scale.View<float>(), width, own);
    for (float& factor : factors) factor /= to.scale;
    IntegerProduct(ctx, plan, 0, 2, 3, 5, [&](const ByteSums& s) {
      const float* row_factors = factors.data() + s.column;
      std::vector<float> scaled;
      for (int64_t i = 0; i < s.rows; ++i) {
        const int64_t line = s.row + i;
        if (by_row) {
          scaled = LineScales(std::span(factors).subspan(static_cast<size_t>(s.column)), s.columns,
                              row_scales[static_cast<size_t>(line % rows)]);
          row_factors = scaled.data();
        }
        kernels::ActiveByteRowKernels().requantize(s.sums + i * s.step, s.added, row_factors, 1, s.columns, to,
                                                   bytes_to + line * width + s.column);
      }
    });
    return;
  }
  const Tensor sums = CenteredProduct(ctx, plan, 0, 2, 3, 5);
  const std::vector<float> factors = LineScales(b_scale.View<float>(), width, own);
  Tensor scaled(TensorType::kFloat, plan.shape);
  const float* sum = sums.View<float>().data();
  float* to = scaled.MutableView<float>().data();
  for (int64_t line = 0; line < y.NumElements() / width; ++line)
    for (const float factor : factors)
      *to++ = *sum++ * (by_row ? row_scales[static_cast<size_t>(line % rows)] : 1) * factor;
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
