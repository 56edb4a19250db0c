// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv/depthwise.h"

#include <algorithm>
#include <type_traits>

#include "base/cpu_features.h"
#include "base/stop_token.h"
#include "kernels/conv/scratch.h"
#include "kernels/gemm/panel.h"
#include "kernels/strided/transpose.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/conv/depthwise.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/gemm/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE {

// Outputs of a row whose sums are in registers at once.
inline constexpr int kDepthwiseOutputs = 8;

// The places that outputs of one row see.
struct DepthwisePlaces {
  int64_t first_row, until_row, first_column, until_column;
};

// kOutputs outputs from `column` on in row `row`, all of which see the same places.
template <int kOutputs, class D, class T = hn::TFromD<D>>
HWY_INLINE void DepthwiseOutputs(D d, const DepthwiseBlock<T>& block, int64_t row, int64_t column,
                                 const DepthwisePlaces& places) {
  using V = hn::Vec<D>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const DepthwiseAxis &height = block.height, &width = block.width;
  V sums[kOutputs];
  for (int o = 0; o < kOutputs; ++o) sums[o] = hn::Load(d, block.bias);
  const int64_t step = width.stride * lanes;
  const bool sees = places.first_column < places.until_column;
  for (int64_t i = places.first_row; sees && i < places.until_row; ++i) {
    const int64_t seen = row * height.stride - height.begin + i * height.dilation - block.x_first;
    const T* HWY_RESTRICT w = block.w + (i * width.kernel + places.first_column) * lanes;
    const T* HWY_RESTRICT x =
        block.x +
        (seen * width.in + column * width.stride - width.begin + places.first_column * width.dilation) * lanes;
    for (int64_t j = places.first_column; j < places.until_column; ++j, w += lanes, x += width.dilation * lanes) {
      const V weight = InRegister(hn::Load(d, w));
      for (int o = 0; o < kOutputs; ++o) sums[o] = hn::MulAdd(hn::Load(d, x + o * step), weight, sums[o]);
    }
  }
  T* HWY_RESTRICT y = block.y + ((row - block.first) * width.out + column) * lanes;
  for (int o = 0; o < kOutputs; ++o) hn::Store(sums[o], d, y + o * lanes);
}

template <int kOutputs, class D, class T = hn::TFromD<D>>
HWY_INLINE void DepthwiseColumns(D d, const DepthwiseBlock<T>& block, int64_t row, int64_t column, int64_t until,
                                 const DepthwisePlaces& places) {
  for (; column + kOutputs <= until; column += kOutputs) DepthwiseOutputs<kOutputs>(d, block, row, column, places);
  if constexpr (kOutputs > 1) DepthwiseColumns<kOutputs / 2>(d, block, row, column, until, places);
}

template <class T>
HWY_INLINE void DepthwiseRows(const DepthwiseBlock<T>& block) {
  const hn::ScalableTag<T> d;
  const DepthwiseAxis &height = block.height, &width = block.width;
  // Outputs between these see all places.
  int64_t whole = 0, until = width.out;
  while (whole < until && width.FirstPlace(whole) > 0) ++whole;
  while (until > whole && width.UntilPlace(until - 1) < width.kernel) --until;
  for (int64_t row = block.first; row < block.first + block.rows; ++row) {
    DepthwisePlaces places{height.FirstPlace(row), height.UntilPlace(row), 0, width.kernel};
    DepthwiseColumns<kDepthwiseOutputs>(d, block, row, whole, until, places);
    const auto cut = [&](int64_t column) HWY_ATTR {
      places.first_column = width.FirstPlace(column);
      places.until_column = width.UntilPlace(column);
      DepthwiseOutputs<1>(d, block, row, column, places);
    };
    for (int64_t column = 0; column < whole; ++column) cut(column);
    for (int64_t column = until; column < width.out; ++column) cut(column);
  }
}

void DepthwiseFloats(const DepthwiseBlock<float>& block) { DepthwiseRows(block); }
void DepthwiseDoubles(const DepthwiseBlock<double>& block) { DepthwiseRows(block); }

const DepthwiseVariant& DepthwiseVariantHere() {
  static const DepthwiseVariant variant = {static_cast<int64_t>(hn::Lanes(hn::ScalableTag<float>())),
                                           static_cast<int64_t>(hn::Lanes(hn::ScalableTag<double>())), DepthwiseFloats,
                                           DepthwiseDoubles};
  return variant;
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// Bytes of a tile, in and out: it stays in the second-level cache.
constexpr int64_t kTileBytes = 1 << 17;
// Multiply-adds of vectors below which a thread is not worth waking.
constexpr double kPieceWork = 1 << 15;

int64_t Pieces(int64_t n, int64_t each) { return (n - 1) / each + 1; }

template <class T>
int64_t LanesOf(const DepthwiseVariant& variant) {
  return std::is_same_v<T, float> ? variant.f32_lanes : variant.f64_lanes;
}

DepthwiseAxis AxisOf(const Window& window, size_t d) {
  return {window.in[d], window.out[d], window.kernel[d], window.stride[d], window.dilation[d], window.begin[d]};
}

}  // namespace

HWY_EXPORT(DepthwiseVariantHere);

const DepthwiseVariant& ActiveDepthwiseVariant() noexcept {
  EnsureIsa();
  return HWY_DYNAMIC_DISPATCH(DepthwiseVariantHere)();
}

int64_t DepthwiseAxis::FirstPlace(int64_t o) const {
  const int64_t at = o * stride - begin;
  return at >= 0 ? 0 : std::min(kernel, (-at - 1) / dilation + 1);
}

int64_t DepthwiseAxis::UntilPlace(int64_t o) const {
  const int64_t left = in - (o * stride - begin);
  return left <= 0 ? 0 : std::min(kernel, (left - 1) / dilation + 1);
}

template <class T>
bool DepthwiseConv<T>::Fits(int64_t channels, const Window& window) {
  return window.in.size() == 2 && channels >= LanesOf<T>(ActiveDepthwiseVariant());
}

template <class T>
DepthwiseConv<T>::DepthwiseConv(int64_t channels, int64_t places, const T* w, const T* bias, bool flush_denormals)
    : channels_(channels),
      places_(places),
      lanes_(LanesOf<T>(ActiveDepthwiseVariant())),
      variant_(&ActiveDepthwiseVariant()) {
  const int64_t width = Pieces(channels, lanes_) * lanes_;
  weights_ = MakeAlignedArray<T>(width * (places + 1));
  std::fill_n(weights_.get(), width * (places + 1), T(0));
  for (int64_t c = 0; c < channels; ++c) {
    T* const block = weights_.get() + c / lanes_ * places * lanes_ + c % lanes_;
    for (int64_t k = 0; k < places; ++k) {
      const T value = w[c * places + k];
      block[k * lanes_] = flush_denormals ? FlushDenormal(value) : value;
    }
    if (bias != nullptr) weights_[static_cast<size_t>(width * places + c)] = bias[c];
  }
}

template <class T>
void DepthwiseConv<T>::Run(int64_t batch, const Window& window, const std::optional<Activation>& activation, const T* x,
                           T* y, ThreadTeam* team, int threads) const {
  const DepthwiseAxis height = AxisOf(window, 0), width = AxisOf(window, 1);
  const int64_t in = window.InSize(), out = window.OutSize(), blocks = Pieces(channels_, lanes_);
  const int64_t row_bytes = (height.stride * width.in + width.out) * lanes_ * static_cast<int64_t>(sizeof(T));
  const int64_t most = std::max<int64_t>(1, kTileBytes / row_bytes), tiles = Pieces(height.out, most);
  const int64_t length = Pieces(height.out, tiles);
  const T* const biases = weights_.get() + blocks * places_ * lanes_;
  const auto piece = [&](int64_t index) {
    const int64_t first = index % tiles * length, rows = std::min(length, height.out - first);
    const int64_t block = index / tiles % blocks, channel = block * lanes_;
    const int64_t channels = std::min(lanes_, channels_ - channel),
                  image = index / tiles / blocks * channels_ + channel;
    // The rows that are seen.
    const int64_t last = (first + rows - 1) * height.stride - height.begin;
    const int64_t seen_first = std::clamp<int64_t>(first * height.stride - height.begin, 0, height.in);
    const int64_t seen_end =
        std::clamp<int64_t>(last + (height.kernel - 1) * height.dilation + 1, seen_first, height.in);
    const int64_t seen = (seen_end - seen_first) * width.in, made = rows * width.out;
    const Scratch<T> scratch((seen + made) * lanes_);
    T* const to = scratch.data() + seen * lanes_;
    // Lanes of no channel are 0.
    if (channels < lanes_) std::fill_n(scratch.data(), seen * lanes_, T(0));
    TransposeInto(x + image * in + seen_first * width.in, in, scratch.data(), lanes_, channels, seen);
    const DepthwiseBlock<T> work{.height = height,
                                 .width = width,
                                 .x = scratch.data(),
                                 .x_first = seen_first,
                                 .w = weights_.get() + block * places_ * lanes_,
                                 .bias = biases + channel,
                                 .first = first,
                                 .rows = rows,
                                 .y = to};
    if constexpr (std::is_same_v<T, float>)
      variant_->f32(work);
    else
      variant_->f64(work);
    if (activation) ApplyActivation(*activation, made * lanes_, to, to);
    TransposeInto(to, lanes_, y + image * out + first * width.out, out, made, channels);
  };
  const int64_t pieces = batch * blocks * tiles;
  const double work = static_cast<double>(places_) * static_cast<double>(length * width.out);
  const int64_t grain = std::max<int64_t>(1, static_cast<int64_t>(kPieceWork / work));
  const auto range = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end && !StopRequested(); ++i) piece(i);
  };
  if (team == nullptr || threads == 1 || pieces <= grain)
    range(0, pieces);
  else
    team->ParallelFor(pieces, grain, range, threads);
}

template class DepthwiseConv<float>;
template class DepthwiseConv<double>;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
#endif
