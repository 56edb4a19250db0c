// SPDX-License-Identifier: Apache-2.0
#include "ops/quantize/integer_product.h"

#include <fmt/format.h>

#include "ops/as_type.h"
#include "ops/nn/conv_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Input i as T, less its zero points, which go by the rows or columns of `matrix`.
template <class T>
Tensor Centered(const RunContext& ctx, int i, int zero_input, const Shape& matrix, bool rows) {
  Tensor centered = AsType(ctx.tensor(i), kTensorTypeOf<T>);
  if (!ctx.HasInput(zero_input)) return centered;
  const Granularity granularity(ctx, zero_input, matrix, rows);
  const Tensor zeros = AsType(ctx.tensor(zero_input), kTensorTypeOf<T>);
  const std::span<const T> zero = zeros.View<T>();
  centered.Unshare();
  int64_t at = 0;
  for (T& element : centered.MutableView<T>()) element -= zero[static_cast<size_t>(granularity.PlaceOf(at++))];
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

namespace {

template <class T>
Tensor Product(RunContext& ctx, int a, int a_zero, int b, int b_zero) {
  const PlannedProduct plan = PlanProduct(ctx, a, b);
  Tensor y(kTensorTypeOf<T>, plan.shape);
  if (y.NumElements() > 0)
    Multiply(ctx, plan.product, Centered<T>(ctx, a, a_zero, ctx.tensor(a).shape(), true),
             Centered<T>(ctx, b, b_zero, ctx.tensor(b).shape(), false), y);
  return y;
}

}  // namespace

Tensor IntegerProduct(RunContext& ctx, int a, int a_zero, int b, int b_zero) {
  return Product<int32_t>(ctx, a, a_zero, b, b_zero);
}

Tensor QuantizedProduct(RunContext& ctx, int a, int a_zero, int b, int b_zero) {
  for (const int i : {a, b})
    if (onnx_optim::IsFloatTensorType(ctx.tensor(i).dtype())) return Product<float>(ctx, a, a_zero, b, b_zero);
  return AsType(Product<int32_t>(ctx, a, a_zero, b, b_zero), TensorType::kFloat);
}

void CheckOneElement(const RunContext& ctx, int i) {
  if (ctx.HasInput(i) && ctx.tensor(i).NumElements() != 1)
    ctx.FailInput(i, fmt::format("must have one element, got {}", ctx.tensor(i).TypeString()));
}

Shape WeightMatrix(const Tensor& w) { return {w.dim(0), DimsProduct(w.shape().dims(), 1, w.rank())}; }

Tensor IntegerConvolution(RunContext& ctx, int x_zero, int w, int w_zero) {
  CheckConvRanks(ctx, ctx.tensor(0), ctx.tensor(w), w);
  CheckOneElement(ctx, x_zero);
  const Tensor x = Centered<int32_t>(ctx, 0, x_zero, ctx.tensor(0).shape(), true);
  return Convolve(ctx, x, Centered<int32_t>(ctx, w, w_zero, WeightMatrix(ctx.tensor(w)), true), w);
}

}  // namespace ONNX_LIGHT_NAMESPACE
