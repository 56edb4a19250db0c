// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/norm_op.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "kernels/cast/cast.h"
#include "kernels/elementwise/rows.h"
#include "kernels/normalize/float_rows.h"
#include "kernels/normalize/normalize.h"
#include "ops/as_type.h"
#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {

ChannelMoments MomentsOf(RunContext& ctx, const Tensor& x, int64_t outer, int64_t channels, int64_t inner) {
  ChannelMoments moments{std::vector<double>(static_cast<size_t>(channels)),
                         std::vector<double>(static_cast<size_t>(channels))};
  const int64_t grain = std::max<int64_t>(1, kElementGrain / std::max<int64_t>(1, outer * inner));
  ctx.ParallelFor(channels, grain, [&](int64_t begin, int64_t end) {
    kernels::Moments(x.dtype(), x.data(), outer, channels, inner, moments.mean.data(), moments.variance.data(), begin,
                     end);
  });
  return moments;
}

void NormalizeInto(RunContext& ctx, const Tensor& x, Tensor& y, int64_t outer, int64_t channels, int64_t inner,
                   const std::vector<double>& center, const std::vector<double>& scale,
                   const std::vector<double>& shift) {
  void* const to = y.mutable_data();
  const int64_t grain = std::max<int64_t>(1, kElementGrain / std::max<int64_t>(1, inner));
  ctx.ParallelFor(outer * channels, grain, [&](int64_t begin, int64_t end) {
    kernels::NormalizeRows(x.dtype(), x.data(), to, channels, inner, center.data(), scale.data(),
                           shift.empty() ? nullptr : shift.data(), begin, end);
  });
}

std::vector<double> InverseDeviation(const std::vector<double>& variance, float epsilon) {
  std::vector<double> result;
  for (const double v : variance) result.push_back(1 / std::sqrt(v + static_cast<double>(epsilon)));
  return result;
}

std::vector<double> ReadChannels(const RunContext& ctx, int i, int64_t channels) {
  const Tensor& t = ctx.tensor(i);
  if (t.rank() != 1 || t.dim(0) != channels)
    ctx.FailInput(i, fmt::format("must be a vector of {}, one for each channel, got {}", channels, t.TypeString()));
  std::vector<double> values(static_cast<size_t>(channels));
  kernels::Cast(t.data(), t.dtype(), values.data(), TensorType::kDouble, channels);
  return values;
}

void CombineWith(RunContext& ctx, Tensor& y, int i, bool multiply) {
  const Tensor t = ctx.tensor(i);
  bool fits = t.rank() <= y.rank();
  for (int d = 0; d < t.rank() && fits; ++d) fits = t.dim(d) == 1 || t.dim(d) == y.dim(y.rank() - t.rank() + d);
  if (!fits)
    ctx.FailInput(i, fmt::format("shape {} does not broadcast to {}", t.shape().ToString(), y.shape().ToString()));
  const std::span<const int64_t> shapes[] = {y.shape().dims(), t.shape().dims()};
  const kernels::BroadcastLoops loops(y.shape().dims(), shapes);
  void* const to = y.mutable_data();
  const void* const in[] = {to, t.data()};
  Dispatch(FloatList(), y.dtype(), [&]<class T>(std::type_identity<T>) {
    const size_t sizes[] = {sizeof(T), sizeof(T)};
    const std::multiplies<> times;
    const std::plus<> plus;
    const kernels::RowFn row =
        multiply ? kernels::BinaryRow<std::multiplies<>, T, T, T> : kernels::BinaryRow<std::plus<>, T, T, T>;
    const void* fn = multiply ? static_cast<const void*>(&times) : &plus;
    ctx.ParallelFor(loops.size(), kElementGrain,
                    [&](int64_t begin, int64_t end) { loops.Run(begin, end, in, sizes, to, sizeof(T), row, fn); });
  });
}

void NormalizeScaledInto(RunContext& ctx, const Tensor& x, Tensor& y, int64_t rows, int64_t row,
                         const std::vector<double>& center, const std::vector<double>& factor, int scale, int shift) {
  const auto is_row = [&](int i) {
    const Tensor& t = ctx.tensor(i);
    const auto dims = x.shape().dims();
    return t.dtype() == TensorType::kFloat && t.NumElements() == row && t.rank() <= x.rank() &&
           std::ranges::equal(t.shape().dims(), dims.last(static_cast<size_t>(t.rank())));
  };
  if (x.dtype() == TensorType::kFloat && is_row(scale) && (shift < 0 || is_row(shift))) {
    const float* const from = x.View<float>().data();
    float* const to = y.MutableView<float>().data();
    const float* const scales = ctx.tensor(scale).View<float>().data();
    const float* const shifts = shift < 0 ? nullptr : ctx.tensor(shift).View<float>().data();
    const int64_t grain = std::max<int64_t>(1, kElementGrain / std::max<int64_t>(1, row));
    ctx.ParallelFor(rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        kernels::NormalizeAndScale(from + r * row, to + r * row, row,
                                   static_cast<float>(center[static_cast<size_t>(r)]),
                                   static_cast<float>(factor[static_cast<size_t>(r)]), scales, shifts);
    });
    return;
  }
  NormalizeInto(ctx, x, y, 1, rows, row, center, factor);
  y = AsType(y, ctx.tensor(scale).dtype());
  CombineWith(ctx, y, scale, true);
  if (shift >= 0) CombineWith(ctx, y, shift, false);
}

RowSplit SplitAtAxis(const RunContext& ctx, const Shape& shape) {
  const int axis = NormalizeAxis(ctx, ctx.attrs().Int("axis", -1), shape.rank());
  RowSplit split{axis, DimsProduct(shape.dims(), 0, axis), DimsProduct(shape.dims(), axis, shape.rank())};
  bool asked = split.row > 0;
  for (int i = 1; i < ctx.output_size(); ++i) asked = asked || ctx.HasOutput(i);
  if (!asked) split.rows = 0;
  return split;
}

std::vector<double> NormalizeByRootMeanSquare(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  const RowSplit split = SplitAtAxis(ctx, x.shape());
  std::vector<double> squares(static_cast<size_t>(split.rows));
  const int64_t grain = std::max<int64_t>(1, kElementGrain / std::max<int64_t>(1, split.row));
  ctx.ParallelFor(split.rows, grain, [&](int64_t begin, int64_t end) {
    kernels::MeanSquares(x.dtype(), x.data(), split.row, squares.data(), begin, end);
  });
  Tensor y(x.dtype(), x.shape());
  std::vector<double> inverse = InverseDeviation(squares, ctx.attrs().Float("epsilon", 1e-5f));
  NormalizeScaledInto(ctx, x, y, split.rows, split.row, std::vector<double>(squares.size()), inverse, 1, -1);
  ctx.SetOutput(0, std::move(y));
  return inverse;
}

}  // namespace ONNX_LIGHT_NAMESPACE
