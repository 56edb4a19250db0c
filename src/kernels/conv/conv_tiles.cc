// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv/conv_tiles.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include "base/checked.h"
#include "kernels/strided/transpose.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// Numbers of a tile, in and out: half of an L2, where the weights stand too.
constexpr int64_t kTileNumbers = 1 << 17;
// Multiply-adds of a piece of work: below, the fixed cost of one, some microseconds, shows.
constexpr double kPieceWork = 1 << 23;
// Numbers of padding that need no input or output to justify them.
constexpr int64_t kFreePadding = 1 << 20;

int64_t Product(std::span<const int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

int64_t Extent(const Window& window, size_t axis) { return (window.kernel[axis] - 1) * window.dilation[axis] + 1; }

int64_t RoundedUp(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

std::vector<int64_t> Pooled(std::vector<int64_t> dims, const ConvPool& pool) {
  for (size_t d = 0; d < pool.kernel.size(); ++d) dims[d] = (dims[d] - pool.kernel[d]) / pool.stride[d] + 1;
  return dims;
}

std::vector<int64_t> Steps(std::span<const int64_t> dims, int64_t channels) {
  std::vector<int64_t> steps(dims.size(), channels);
  for (size_t d = dims.size() - 1; d-- > 0;) steps[d] = steps[d + 1] * dims[d + 1];
  return steps;
}

}  // namespace

std::vector<int64_t> Offsets(std::span<const int64_t> dims, std::span<const int64_t> steps) {
  std::vector<int64_t> offsets{0};
  for (size_t d = 0; d < dims.size(); ++d) {
    std::vector<int64_t> longer;
    longer.reserve(offsets.size() * static_cast<size_t>(dims[d]));
    for (const int64_t offset : offsets)
      for (int64_t i = 0; i < dims[d]; ++i) longer.push_back(offset + i * steps[d]);
    offsets = std::move(longer);
  }
  return offsets;
}

ConvTiles::ConvTiles(const ConvSizes& sizes, int64_t batch, const Window& given, const ConvPool& pool)
    : window(given), in_channels(sizes.groups * sizes.in_channels), out_channels(sizes.groups * sizes.out_channels) {
  if (pool.kernel.empty())
    FlattenPoints(window);
  else
    pool_stride_ = pool.stride[0];
  const size_t axes = window.in.size();
  const auto per_output =
      static_cast<double>(sizes.in_channels * window.KernelSize()) * static_cast<double>(out_channels);
  work = per_output * static_cast<double>(window.OutSize()) * static_cast<double>(batch);
  padded = window.out;
  for (size_t d = 0; d < axes; ++d) padded[d] = (window.out[d] - 1) * window.stride[d] + Extent(window, d);
  outputs = window.out;
  all_pooled = Pooled(outputs, pool);
  const std::optional<int64_t> all_padded = CheckedProduct(padded);
  const std::optional<int64_t> numbers = all_padded ? CheckedMul(*all_padded, in_channels) : std::nullopt;
  const int64_t in_and_out = window.InSize() * in_channels + window.OutSize() * out_channels;
  justified = numbers && *numbers / 8 <= std::max(in_and_out, kFreePadding);
  if (!justified) return;
  const int64_t row_out = Product(std::span(outputs).subspan(1)), row_in = Product(std::span(padded).subspan(1));
  const int64_t stride = window.stride[0], halo = std::max<int64_t>(0, Extent(window, 0) - stride);
  int64_t most = kTileNumbers / std::max<int64_t>(1, row_in * in_channels * stride + row_out * out_channels);
  most = std::min(most, static_cast<int64_t>(kPieceWork / std::max(1.0, per_output * static_cast<double>(row_out))));
  most = std::max({most, int64_t{1}, 4 * halo / stride});
  const int64_t out = window.out[0];
  length = (out - 1) / ((out - 1) / most + 1) + 1;
  // Rounded up, so that lengths that vary from run to run come to few sizes of tiles, and no pool sees two of them.
  int64_t step = 1;
  while (step * 16 <= length) step *= 2;
  length = std::min(out, RoundedUp(RoundedUp(length, step), pool_stride_));
  tiles = (out - 1) / length + 1;
  outputs[0] = length;
  padded[0] = (length - 1) * stride + Extent(window, 0);
  pooled = Pooled(outputs, pool);
  padded_size = row_in * padded[0] * in_channels;
  output_size = row_out * length * out_channels;
  pooled_size = Product(pooled) * out_channels;
  images = 1;
  if (tiles > 1) return;
  const double one = per_output * static_cast<double>(row_out * length);
  most = std::min(kTileNumbers / (padded_size + output_size), static_cast<int64_t>(kPieceWork / std::max(1.0, one)));
  most = std::clamp<int64_t>(most, 1, batch);
  images = (batch - 1) / ((batch - 1) / most + 1) + 1;
}

std::vector<int64_t> ConvTiles::PaddedSteps() const { return Steps(padded, in_channels); }
std::vector<int64_t> ConvTiles::OutputSteps() const { return Steps(outputs, out_channels); }

template <class T>
void ConvTiles::CopyIn(const T* x, int64_t first, T* to) const {
  const size_t last = padded.size() - 1;
  const int64_t in_size = window.InSize(), columns = padded[last], row = columns * in_channels;
  const int64_t rows = Product(std::span(padded).first(last));
  for (int64_t r = 0; r < rows; ++r, to += row) {
    int64_t rest = r, offset = 0, step = window.in[last];
    bool inside = true;
    for (size_t d = last; d-- > 0;) {
      const int64_t i = rest % padded[d] + (d == 0 ? first * window.stride[0] : 0) - window.begin[d];
      rest /= padded[d];
      inside = inside && i >= 0 && i < window.in[d];
      offset += i * step;
      step *= window.in[d];
    }
    const int64_t begin = (last == 0 ? first * window.stride[0] : 0) - window.begin[last];
    const int64_t from = inside ? std::clamp<int64_t>(-begin, 0, columns) : columns;
    const int64_t until = std::clamp<int64_t>(window.in[last] - begin, from, columns);
    std::fill_n(to, from * in_channels, T(0));
    if (until > from) {
      const T* const seen = x + offset + begin + from;
      if (in_channels == 1)
        std::copy_n(seen, until - from, to + from);
      else
        TransposeInto(seen, in_size, to + from * in_channels, in_channels, in_channels, until - from);
    }
    std::fill_n(to + until * in_channels, (columns - until) * in_channels, T(0));
  }
}

template <class T>
void ConvTiles::CopyOut(const T* from, int64_t first, T* y) const {
  const int64_t row = Product(std::span(pooled).subspan(1)), skipped = first / pool_stride_;
  const int64_t count = std::min(pooled[0], all_pooled[0] - skipped) * row;
  if (count > 0) TransposeInto(from, out_channels, y + skipped * row, Product(all_pooled), count, out_channels);
}

template void ConvTiles::CopyIn(const float*, int64_t, float*) const;
template void ConvTiles::CopyIn(const double*, int64_t, double*) const;
template void ConvTiles::CopyOut(const float*, int64_t, float*) const;
template void ConvTiles::CopyOut(const double*, int64_t, double*) const;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
