// SPDX-License-Identifier: Apache-2.0
#include "ops/quantize/integer_product.h"

#include <fmt/format.h>

#include "ops/as_type.h"
#include "ops/nn/conv_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Input i as int32, less its zero points, which go by the rows or columns of `matrix`.
Tensor Centered(const RunContext& ctx, int i, int zero_input, const Shape& matrix, bool rows) {
  Tensor centered = AsType(ctx.tensor(i), TensorType::kInt32);
  if (!ctx.HasInput(zero_input)) return centered;
  const Granularity granularity(ctx, zero_input, matrix, rows);
  const Tensor zeros = AsType(ctx.tensor(zero_input), TensorType::kInt32);
  const std::span<const int32_t> zero = zeros.View<int32_t>();
  centered.Unshare();
  int64_t at = 0;
  for (int32_t& element : centered.MutableView<int32_t>())
    element -= zero[static_cast<size_t>(granularity.PlaceOf(at++))];
  return centered;
}

}  // namespace

Granularity::Granularity(const RunContext& ctx, int i, const Shape& matrix, bool rows) : rows_(rows) {
  const Shape& own = ctx.tensor(i).shape();
  count_ = own.NumElements();
  columns_ = matrix.rank() == 0 ? 1 : matrix[matrix.rank() - 1];
  matrix_size_ = columns_ * (matrix.rank() < 2 ? 1 : matrix[matrix.rank() - 2]);
  if (count_ == 1) return;
  const int64_t lines = rows ? (matrix.rank() < 2 ? 1 : matrix[matrix.rank() - 2]) : columns_;
  if (own.rank() == 1 && own[0] == lines) return;
  Shape expected = matrix;
  if (matrix.rank() >= 2) expected[matrix.rank() - (rows ? 1 : 2)] = 1;
  if (own != expected || matrix.rank() < 2)
    ctx.FailInput(i, fmt::format("shape {} is neither of one element nor of one for each of {} {}", own.ToString(),
                                 lines, rows ? "rows" : "columns"));
  by_matrix_ = true;
}

int64_t Granularity::PlaceOf(int64_t element) const {
  if (count_ == 1) return 0;
  const int64_t matrix = element / matrix_size_, in_matrix = element % matrix_size_;
  const int64_t line = rows_ ? in_matrix / columns_ : in_matrix % columns_;
  return by_matrix_ ? matrix * (rows_ ? matrix_size_ / columns_ : columns_) + line : line;
}

Tensor IntegerProduct(RunContext& ctx, int a, int a_zero, int b, int b_zero) {
  const PlannedProduct plan = PlanProduct(ctx, a, b);
  Tensor y(TensorType::kInt32, plan.shape);
  if (y.NumElements() > 0)
    Multiply(ctx, plan.product, Centered(ctx, a, a_zero, ctx.tensor(a).shape(), true),
             Centered(ctx, b, b_zero, ctx.tensor(b).shape(), false), y);
  return y;
}

void CheckOneElement(const RunContext& ctx, int i) {
  if (ctx.HasInput(i) && ctx.tensor(i).NumElements() != 1)
    ctx.FailInput(i, fmt::format("must have one element, got {}", ctx.tensor(i).TypeString()));
}

Shape WeightMatrix(const Tensor& w) { return {w.dim(0), DimsProduct(w.shape().dims(), 1, w.rank())}; }

Tensor IntegerConvolution(RunContext& ctx, int x_zero, int w, int w_zero) {
  CheckConvRanks(ctx, ctx.tensor(0), ctx.tensor(w), w);
  CheckOneElement(ctx, x_zero);
  const Tensor x = Centered(ctx, 0, x_zero, ctx.tensor(0).shape(), true);
  return Convolve(ctx, x, Centered(ctx, w, w_zero, WeightMatrix(ctx.tensor(w)), true), w);
}

}  // namespace ONNX_LIGHT_NAMESPACE
