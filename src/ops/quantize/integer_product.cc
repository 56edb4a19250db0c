// SPDX-License-Identifier: Apache-2.0
#include "ops/quantize/integer_product.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/as_type.h"
#include "ops/nn/conv_op.h"
#include "ops/nn/window_op.h"

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

// The zero points of `lines` rows of A (columns of B), a matrix of these dims, `step` elements from one to the next;
// none where not given.
std::vector<int32_t> ZerosOf(const RunContext& ctx, int zero_input, const Shape& matrix, bool rows, int64_t lines,
                             int64_t step) {
  if (!ctx.HasInput(zero_input)) return {};
  const Granularity granularity(ctx, zero_input, matrix, rows);
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

std::unique_ptr<OpState> PackConstantBytes(const PrepareContext& ctx, int b, bool transposed) {
  auto state = std::make_unique<ConstantBytes>();
  state->transposed = transposed;
  const Tensor* const matrix = ctx.ConstantInput(b);
  if (matrix != nullptr && matrix->rank() == 2 && kByteTypes.Has(matrix->dtype())) state->b = *matrix;
  return state;
}

namespace {

// Of elements centred one by one.
template <class T>
Tensor ProductOf(RunContext& ctx, const PlannedProduct& plan, int a, int a_zero, int b, int b_zero) {
  Tensor y(kTensorTypeOf<T>, plan.shape);
  if (y.NumElements() > 0)
    Multiply(ctx, plan.product, Centered<T>(ctx, a, a_zero, ctx.tensor(a).shape(), true),
             Centered<T>(ctx, b, b_zero, ctx.tensor(b).shape(), false), y);
  return y;
}

}  // namespace

void IntegerProduct(RunContext& ctx, const PlannedProduct& plan, int a, int a_zero, int b, int b_zero,
                    FunctionRef<void(const ByteSums&)> done) {
  const MatrixProduct& product = plan.product;
  if (product.batch == 1 && product.b_offsets.empty())
    return IntegerProduct(ctx, plan, ctx.tensor(a), a_zero, b, b_zero, {}, done);
  const Tensor y = ProductOf<int32_t>(ctx, plan, a, a_zero, b, b_zero);
  if (y.NumElements() > 0)
    done({0, y.NumElements() / product.n, 0, product.n, y.View<int32_t>().data(), product.n, nullptr});
}

void IntegerProduct(RunContext& ctx, const PlannedProduct& plan, const Tensor& a, int a_zero, int b, int b_zero,
                    std::span<const int32_t> added, FunctionRef<void(const ByteSums&)> done) {
  const MatrixProduct& product = plan.product;
  if (product.m == 0 || product.n == 0) return;
  const ConstantBytes& constant = ctx.state<ConstantBytes>();
  const std::vector<int32_t> a_zeros = ZerosOf(ctx, a_zero, a.shape(), true, product.m, product.k);
  const Shape b_matrix = constant.transposed ? Shape{product.k, product.n} : ctx.tensor(b).shape();
  const std::vector<int32_t> b_zeros = ZerosOf(ctx, b_zero, b_matrix, false, product.n, 1);
  std::optional<kernels::PackedBytes> now;
  const auto pack = [&](std::optional<kernels::PackedBytes>& packed) {
    packed.emplace(product.k, product.n, ctx.tensor(b).data(), ctx.tensor(b).dtype() == TensorType::kInt8,
                   constant.transposed);
  };
  if (constant.b.defined())
    std::call_once(constant.once, pack, constant.packed);
  else
    pack(now);
  (constant.b.defined() ? *constant.packed : *now)
      .Multiply(product.m, a.data(), a.dtype() == TensorType::kInt8, a_zeros, b_zeros, added, done, &ctx.team(),
                ctx.threads());
}

Tensor CenteredProduct(RunContext& ctx, const PlannedProduct& plan, int a, int a_zero, int b, int b_zero) {
  return ProductOf<float>(ctx, plan, a, a_zero, b, b_zero);
}

std::vector<float> LineScales(std::span<const float> scales, int64_t lines, float factor) {
  std::vector<float> all(static_cast<size_t>(lines), scales[0]);
  if (scales.size() > 1) std::copy_n(scales.begin(), all.size(), all.begin());
  for (float& scale : all) scale *= factor;
  return all;
}

Shape WeightMatrix(const Tensor& w) { return {w.dim(0), DimsProduct(w.shape().dims(), 1, w.rank())}; }

std::unique_ptr<OpState> PackConstantByteConv(const PrepareContext& ctx, int w, int w_zero) {
  auto state = std::make_unique<ConstantByteConv>();
  const Tensor* const weights = ctx.ConstantInput(w);
  if (weights != nullptr && (!ctx.HasInput(w_zero) || ctx.ConstantInput(w_zero) != nullptr)) state->w = *weights;
  return state;
}

void IntegerConvolution(RunContext& ctx, int x_zero, int w, int w_zero, FunctionRef<ByteConvResult(const Shape&)> start,
                        kernels::PackedByteConv::Finish finish) {
  const Tensor x = ctx.tensor(0), weights = ctx.tensor(w);
  CheckConvRanks(ctx, x, weights, w);
  CheckOneElement(ctx, x_zero);
  const Shape matrix = WeightMatrix(weights);
  std::vector<int32_t> zeros = ZerosOf(ctx, w_zero, matrix, true, matrix[0], matrix[1]);
  if (zeros.empty()) zeros.push_back(0);
  const ConvGroups groups = ReadConvGroups(ctx, x, weights, w);
  const std::span<const int64_t> kernel = weights.shape().dims().subspan(2);
  const kernels::Window window =
      WindowOver(ctx, ReadWindow(ctx.attrs(), x.rank() - 2, {kernel.begin(), kernel.end()}), x.shape());
  Shape shape{x.dim(0), weights.dim(0)};
  for (const int64_t d : window.out) shape.push_back(d);
  const ByteConvResult result = start(shape);
  if (shape.NumElements() == 0) return;
  if (weights.NumElements() == 0) {  // sums of nothing
    const int64_t out = window.OutSize();
    auto* const y = static_cast<std::byte*>(result.y);
    for (int64_t plane = 0; plane < x.dim(0) * weights.dim(0); ++plane) {
      const auto channel = static_cast<size_t>(plane % weights.dim(0));
      const std::vector<int32_t> sums(static_cast<size_t>(out), result.added.empty() ? 0 : result.added[channel]);
      finish(static_cast<int64_t>(channel), sums.data(), out, y + plane * out * result.element);
    }
    return;
  }
  const auto pack = [&](std::optional<kernels::PackedByteConv>& packed) {
    packed.emplace(groups.groups, groups.in, groups.out, kernel, weights.data(), weights.dtype() == TensorType::kInt8,
                   zeros);
  };
  const auto& constant = ctx.state<ConstantByteConv>();
  std::optional<kernels::PackedByteConv> now;
  if (constant.w.defined())
    std::call_once(constant.once, pack, constant.packed);
  else
    pack(now);
  const int32_t zero = ctx.HasInput(x_zero) ? AsType(ctx.tensor(x_zero), TensorType::kInt32).View<int32_t>()[0] : 0;
  (constant.w.defined() ? *constant.packed : *now)
      .Run(x.dim(0), window, x.data(), x.dtype() == TensorType::kInt8, zero, result.added, finish, result.element,
           result.y, &ctx.team(), ctx.threads());
}

}  // namespace ONNX_LIGHT_NAMESPACE
