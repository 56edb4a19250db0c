// SPDX-License-Identifier: Apache-2.0
#include "ops/quantize/integer_product.h"

#include <fmt/format.h>

#include "ops/as_type.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// The matrix as T, less its zero points.
template <class T>
Tensor Centered(const RunContext& ctx, int i, int zero_input, bool rows) {
  Tensor matrix = AsType(ctx.tensor(i), kTensorTypeOf<T>);
  if (!ctx.HasInput(zero_input)) return matrix;
  const Granularity granularity(ctx, zero_input, matrix.shape(), rows);
  const Tensor zeros = AsType(ctx.tensor(zero_input), kTensorTypeOf<T>);
  const std::span<const T> zero = zeros.View<T>();
  matrix.Unshare();
  int64_t at = 0;
  for (T& element : matrix.MutableView<T>()) element -= zero[static_cast<size_t>(granularity.PlaceOf(at++))];
  return matrix;
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
    Multiply(ctx, plan.product, Centered<T>(ctx, a, a_zero, true), Centered<T>(ctx, b, b_zero, false), y);
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

}  // namespace ONNX_LIGHT_NAMESPACE
