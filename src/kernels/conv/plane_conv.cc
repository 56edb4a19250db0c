// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv/plane_conv.h"

#include <algorithm>
#include <type_traits>

#include "base/cpu_features.h"
#include "base/stop_token.h"
#include "kernels/conv/scratch.h"
#include "kernels/gemm/panel.h"
#include "kernels/pieces.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/conv/plane_conv.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/gemm/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE {

// Of four vectors each.
inline constexpr int kPlaneRows = kManyRegisters ? 6 : 3;

// kVectors vectors of outputs from i on, of kRows channels.
template <int kRows, int kVectors, class D, class T = hn::TFromD<D>>
HWY_INLINE void PlaneTile(D d, const PlaneBlock<T>& block, int64_t i) {
  using V = hn::Vec<D>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V sums[kRows][kVectors];
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) sums[r][v] = block.bias != nullptr ? hn::Set(d, block.bias[r]) : hn::Zero(d);
  const T* HWY_RESTRICT w = block.w;
  for (int64_t term = 0; term < block.terms; ++term, w += kRows) {
    const T* HWY_RESTRICT x = block.x + block.offsets[term] + i;
    V weights[kRows];
    for (int r = 0; r < kRows; ++r) weights[r] = hn::Set(d, w[r]);
    for (int v = 0; v < kVectors; ++v) {
      V seen = hn::LoadU(d, x + v * lanes);
      if constexpr (kRows > 1) seen = InRegister(seen);
      for (int r = 0; r < kRows; ++r) sums[r][v] = hn::MulAdd(weights[r], seen, sums[r][v]);
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sums[r][v], d, block.y + r * block.y_row + i + v * lanes);
}

template <int kRows, int kVectors, class D, class T = hn::TFromD<D>>
HWY_INLINE int64_t PlaneVectors(D d, const PlaneBlock<T>& block, int64_t i) {
  const int64_t step = kVectors * static_cast<int64_t>(hn::Lanes(d));
  for (; i + step <= block.n; i += step) PlaneTile<kRows, kVectors>(d, block, i);
  if constexpr (kVectors > 1) return PlaneVectors<kRows, kVectors / 2>(d, block, i);
  return i;
}

// Sums are chains: the last vector may do over what the one before it did.
template <int kRows, class T>
HWY_INLINE void PlaneRows(const PlaneBlock<T>& block) {
  if constexpr (kRows > 1) {
    if (block.rows < kRows) return PlaneRows<kRows - 1>(block);
  }
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = PlaneVectors<kRows, (kRows == 1 ? 8 : 4)>(d, block, 0);
  if (i < block.n && block.n >= lanes) return PlaneTile<kRows, 1>(d, block, block.n - lanes);
  for (; i < block.n; ++i) PlaneTile<kRows, 1>(one, block, i);
}

void PlanesOfFloats(const PlaneBlock<float>& block) { PlaneRows<kPlaneRows>(block); }
void PlanesOfDoubles(const PlaneBlock<double>& block) { PlaneRows<kPlaneRows>(block); }

const PlaneVariant& PlaneVariantHere() {
  static const PlaneVariant variant = {kPlaneRows, PlanesOfFloats, PlanesOfDoubles};
  return variant;
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// Multiply-adds below which a thread is not worth waking.
constexpr double kPieceWork = 1 << 17;

}  // namespace

HWY_EXPORT(PlaneVariantHere);

const PlaneVariant& ActivePlaneVariant() noexcept {
  EnsureIsa();
  return HWY_DYNAMIC_DISPATCH(PlaneVariantHere)();
}

template <class T>
PlaneConv<T>::PlaneConv(int64_t groups, int64_t in_channels, int64_t out_channels, int64_t places, const T* w,
                        bool flush_denormals)
    : groups_(groups),
      in_channels_(in_channels),
      out_channels_(out_channels),
      places_(places),
      variant_(&ActivePlaneVariant()) {
  const int64_t terms = in_channels * places;
  weights_ = MakeAlignedArray<T>(groups * out_channels * terms);
  T* to = weights_.get();
  for (int64_t g = 0; g < groups; ++g)
    for (int64_t first = 0; first < out_channels; first += variant_->rows) {
      const int64_t rows = std::min(variant_->rows, out_channels - first);
      for (int64_t term = 0; term < terms; ++term)
        for (int64_t row = 0; row < rows; ++row) {
          const T value = w[(g * out_channels + first + row) * terms + term];
          *to++ = flush_denormals ? FlushDenormal(value) : value;
        }
    }
}

template <class T>
void PlaneConv<T>::Run(int64_t batch, const PlaneTiles& tiles, const T* bias,
                       const std::optional<Activation>& activation, const T* x, T* y, ThreadTeam* team,
                       int threads) const {
  const int64_t in = tiles.window.InSize(), out = tiles.window.OutSize(), terms = in_channels_ * places_;
  const int64_t row_out = out / tiles.window.out[0], step = tiles.in_place ? in : tiles.size;
  const int64_t flat_size = tiles.FlatSize(tiles.length);
  std::vector<int64_t> offsets;
  for (int64_t c = 0; c < in_channels_; ++c)
    for (const int64_t place : tiles.places) offsets.push_back(c * step + place);
  // One group of an image, one tile.
  const auto piece = [&](int64_t index) {
    const int64_t first = index % tiles.tiles * tiles.length, group = index / tiles.tiles % groups_;
    const int64_t image_group = index / tiles.tiles, rows = tiles.Length(first), flat = tiles.FlatSize(rows);
    const int64_t copied = tiles.in_place ? 0 : in_channels_ * tiles.size;
    const Scratch<T> scratch(copied + (tiles.dense ? 0 : out_channels_ * flat_size));
    const T* from = x + image_group * in_channels_ * in;
    if (tiles.in_place) {
      from += tiles.Begin(first);
    } else {
      for (int64_t c = 0; c < in_channels_; ++c)
        tiles.CopyIn(from + c * in, first, rows, T(0), scratch.data() + c * tiles.size);
      from = scratch.data();
    }
    T* const planes = y + image_group * out_channels_ * out;
    T* const to = tiles.dense ? planes + first * row_out : scratch.data() + copied;
    const int64_t y_row = tiles.dense ? out : flat_size;
    for (int64_t channel = 0; channel < out_channels_; channel += variant_->rows) {
      const int64_t own = group * out_channels_ + channel;
      const PlaneBlock<T> block{.x = from,
                                .offsets = offsets.data(),
                                .terms = terms,
                                .w = weights_.get() + own * terms,
                                .rows = std::min(variant_->rows, out_channels_ - channel),
                                .bias = bias != nullptr ? bias + own : nullptr,
                                .y = to + channel * y_row,
                                .y_row = y_row,
                                .n = flat};
      if constexpr (std::is_same_v<T, float>)
        variant_->f32(block);
      else
        variant_->f64(block);
    }
    for (int64_t channel = 0; channel < out_channels_; ++channel) {
      T* const made = to + channel * y_row;
      if (activation) ApplyActivation(*activation, flat, made, made);
      if (!tiles.dense) tiles.CopyOut(made, first, rows, sizeof(T), planes + channel * out);
    }
  };
  const int64_t pieces = batch * groups_ * tiles.tiles;
  const double work = static_cast<double>(terms * out_channels_) * static_cast<double>(flat_size);
  const int64_t grain = std::max<int64_t>(1, static_cast<int64_t>(kPieceWork / work));
  const auto range = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end && !StopRequested(); ++i) piece(i);
  };
  RunPieces(pieces, grain, team, threads, range);
}

template class PlaneConv<float>;
template class PlaneConv<double>;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
#endif
