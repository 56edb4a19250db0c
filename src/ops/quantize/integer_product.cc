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

// The zero points of `lines` rows of A (columns of B), `step` elements from one to the next; none where not given.
std::vector<int32_t> ZerosOf(const RunContext& ctx, int i, int zero_input, bool rows, int64_t lines, int64_t step) {
  if (!ctx.HasInput(zero_input)) return {};
  const Granularity granularity(ctx, zero_input, ctx.tensor(i).shape(), rows);
  const Tensor given = AsType(ctx.tensor(zero_input), TensorType::kInt32);
  const std::span<const int32_t> zero = given.View<int32_t>();
  if (zero.size() == 1) return {zero[0]};
  std::vector<int32_t> zeros;
  for (int64_t line = 0; line < lines; ++line)
    zeros.push_back(zero[static_cast<size_t>(granularity.PlaceOf(line * step))]);
  return zeros;
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

std::unique_ptr<OpState> PackConstantBytes(const PrepareContext& ctx, int b) {
  auto state = std::make_unique<ConstantBytes>();
  const Tensor* const matrix = ctx.ConstantInput(b);
  if (matrix != nullptr && matrix->rank() == 2 && kByteTypes.Has(matrix->dtype())) state->b = *matrix;
  return state;
}

namespace {

// Of elements centred one by one.
template <class T>
Tensor CenteredProduct(RunContext& ctx, const PlannedProduct& plan, int a, int a_zero, int b, int b_zero) {
  Tensor y(kTensorTypeOf<T>, plan.shape);
  if (y.NumElements() > 0)
    Multiply(ctx, plan.product, Centered<T>(ctx, a, a_zero, ctx.tensor(a).shape(), true),
             Centered<T>(ctx, b, b_zero, ctx.tensor(b).shape(), false), y);
  return y;
}

}  // namespace

Tensor IntegerProduct(RunContext& ctx, int a, int a_zero, int b, int b_zero) {
  const PlannedProduct plan = PlanProduct(ctx, a, b);
  const MatrixProduct& product = plan.product;
  if (product.batch != 1 || !product.b_offsets.empty())
    return CenteredProduct<int32_t>(ctx, plan, a, a_zero, b, b_zero);
  Tensor y(TensorType::kInt32, plan.shape);
  if (y.NumElements() == 0) return y;
  const std::vector<int32_t> a_zeros = ZerosOf(ctx, a, a_zero, true, product.m, product.k);
  const std::vector<int32_t> b_zeros = ZerosOf(ctx, b, b_zero, false, product.n, 1);
  const ConstantBytes& constant = ctx.state<ConstantBytes>();
  std::optional<kernels::PackedBytes> now;
  const auto pack = [&](std::optional<kernels::PackedBytes>& packed) {
    packed.emplace(product.k, product.n, ctx.tensor(b).data(), ctx.tensor(b).dtype() == TensorType::kInt8);
  };
  if (constant.b.defined())
    std::call_once(constant.once, pack, constant.packed);
  else
    pack(now);
  (constant.b.defined() ? *constant.packed : *now)
      .Multiply(product.m, ctx.tensor(a).data(), ctx.tensor(a).dtype() == TensorType::kInt8, a_zeros, b_zeros,
                y.MutableView<int32_t>().data(), &ctx.team(), ctx.threads());
  return y;
}

Tensor QuantizedProduct(RunContext& ctx, int a, int a_zero, int b, int b_zero) {
  for (const int i : {a, b})
    if (onnx_optim::IsFloatTensorType(ctx.tensor(i).dtype()))
      return CenteredProduct<float>(ctx, PlanProduct(ctx, a, b), a, a_zero, b, b_zero);
  return AsType(IntegerProduct(ctx, a, a_zero, b, b_zero), TensorType::kFloat);
}

void CheckOneElement(const RunContext& ctx, int i) {
  if (ctx.HasInput(i) && ctx.tensor(i).NumElements() != 1)
    ctx.FailInput(i, fmt::format("must have one element, got {}", ctx.tensor(i).TypeString()));
}

Shape WeightMatrix(const Tensor& w) { return {w.dim(0), DimsProduct(w.shape().dims(), 1, w.rank())}; }

Tensor IntegerConvolution(RunContext& ctx, int x_zero, int w, int w_zero) {
  CheckConvRanks(ctx, ctx.tensor(0), ctx.tensor(w), w);
  CheckOneElement(ctx, x_zero);
  const Tensor x = Centered<double>(ctx, 0, x_zero, ctx.tensor(0).shape(), true);
  return ConvolveIntegers(ctx, x, Centered<double>(ctx, w, w_zero, WeightMatrix(ctx.tensor(w)), true), w);
}

}  // namespace ONNX_LIGHT_NAMESPACE
