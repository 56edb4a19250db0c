// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv/depthwise.h"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <vector>

#include "base/checked.h"
#include "base/cpu_features.h"
#include "base/stop_token.h"
#include "kernels/conv/scratch.h"
#include "kernels/gemm/panel.h"
#include "kernels/pieces.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/conv/depthwise.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/gemm/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE {

// Sums in registers at once, vectors of kRows rows: enough to hide a MulAdd's latency, and of 16 registers a column of
// 7 weights has its own.
inline constexpr int kDepthwiseSums = 8;
// Rows with kernels of their own, of 2 vectors.
inline constexpr int kDepthwiseRows = 4;

// The last vector may copy again what the one before it did; what is shorter goes in shorter ones.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void CopyNeighbours(D d, const T* HWY_RESTRICT from, int64_t n, T* HWY_RESTRICT to) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  if (n < lanes) {
    if constexpr (hn::MaxLanes(D()) > 1) CopyNeighbours(hn::Half<D>(), from, n, to);
    return;
  }
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
  if (i < n) hn::StoreU(hn::LoadU(d, from + n - lanes), d, to + n - lanes);
}

// Likewise: n numbers each.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void CopyPairs(D d, const T* HWY_RESTRICT from, int64_t n, T* HWY_RESTRICT even, T* HWY_RESTRICT odd) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  if (n < lanes) {
    if constexpr (hn::MaxLanes(D()) > 1) CopyPairs(hn::Half<D>(), from, n, even, odd);
    return;
  }
  const auto copy = [&](int64_t i) HWY_ATTR {
    hn::Vec<D> evens, odds;
    hn::LoadInterleaved2(d, from + 2 * i, evens, odds);
    hn::StoreU(evens, d, even + i);
    hn::StoreU(odds, d, odd + i);
  };
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) copy(i);
  if (i < n) copy(n - lanes);
}

// copy(from, to) for each row that there is.
template <class T, class Copy>
HWY_INLINE void CopyRows(const DepthwiseRows& in, const DepthwiseBlock<T>& block, const Copy& copy) {
  const int64_t first = std::clamp<int64_t>(-in.first, 0, in.rows);
  const int64_t until = std::clamp<int64_t>(in.in_rows - in.first, first, in.rows);
  for (int64_t p = 0; p < block.planes; ++p) {
    const T* const plane = block.x + (p * in.in_rows + in.first) * in.in_columns + in.skip;
    T* const to = block.padded + p * in.plane;
    for (int64_t j = first; j < until; ++j) copy(plane + j * in.in_columns, to + j * in.row);
    if (in.whole) continue;  // what is left of the one before
    std::fill(to, to + first * in.row, T(0));
    std::fill(to + until * in.row, to + in.rows * in.row, T(0));
  }
}

template <class T>
HWY_INLINE void CopyPlanes(const DepthwiseBlock<T>& block) {
  const hn::ScalableTag<T> d;
  const DepthwiseRows in = block.in;  // which no store can change
  if (in.stride == 1)
    return CopyRows(in, block, [&](const T* from, T* to) HWY_ATTR { CopyNeighbours(d, from, in.count, to + in.at); });
  if (in.stride == 2) {
    const int64_t here = in.at % 2 * in.part + in.at / 2, next = (in.at + 1) % 2 * in.part + (in.at + 1) / 2;
    const int64_t pairs = in.count / 2;
    return CopyRows(in, block, [&](const T* from, T* to) HWY_ATTR {
      CopyPairs(d, from, pairs, to + here, to + next);
      if (in.count > 2 * pairs) to[here + pairs] = from[2 * pairs];
    });
  }
  CopyRows(in, block, [&](const T* from, T* to) {
    for (int64_t k = 0; k < in.kernel; ++k, to += in.part) {
      const int64_t begin = k * in.dilation - in.at, end = in.count - begin;
      const int64_t from_o = begin < 0 ? (-begin - 1) / in.stride + 1 : 0;
      const int64_t until_o = std::min(block.columns, end <= 0 ? 0 : (end - 1) / in.stride + 1);
      for (int64_t o = from_o; o < until_o; ++o) to[o] = from[begin + o * in.stride];
    }
  });
}

// kVectors vectors of outputs, `step` apart, of kRows rows. kKernel rows of the window without dilation, kStride apart;
// with kKernel = 0 the block says how many and how far.
template <int kKernel, int kStride, int kRows, int kVectors, class D, class T = hn::TFromD<D>>
HWY_INLINE void DepthwiseSums(D d, const DepthwiseBlock<T>& block, const T* HWY_RESTRICT x, const T* HWY_RESTRICT w,
                              int64_t step, hn::Vec<D> (&sums)[kRows][kVectors]) {
  using V = hn::Vec<D>;
  const int64_t row = block.in.row;
  for (int64_t k = 0; k < block.kernel_columns; ++k) {
    const T* HWY_RESTRICT from = x + block.offsets[k];
    if constexpr (kKernel > 0) {
      V weights[kKernel];
      for (int i = 0; i < kKernel; ++i) weights[i] = InRegister(hn::Set(d, w[i]));
#pragma GCC unroll 16
      for (int i = 0; i < (kRows - 1) * kStride + kKernel; ++i, from += row)
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) {
          const V seen = InRegister(hn::LoadU(d, from + v * step));
#pragma GCC unroll 16
          for (int r = 0; r < kRows; ++r)
            if (i >= r * kStride && i < r * kStride + kKernel)
              sums[r][v] = hn::MulAdd(weights[i - r * kStride], seen, sums[r][v]);
        }
      w += kKernel;
    } else {
      for (int64_t i = 0; i < block.kernel_rows; ++i, from += block.row_dilation * row) {
        const V weight = InRegister(hn::Set(d, *w++));
        for (int r = 0; r < kRows; ++r)
          for (int v = 0; v < kVectors; ++v)
            sums[r][v] = hn::MulAdd(weight, hn::LoadU(d, from + r * block.row_stride * row + v * step), sums[r][v]);
      }
    }
  }
}

// What one plane's call works on.
template <class T>
struct DepthwisePlane {
  const T* x;
  const T* w;
  T bias;
  T* y;
  const T* y_end;  // of all planes
};

// A vector wider than a row runs into the next one, which is computed later, but for the very last.
template <int kKernel, int kStride, int kRows, int kVectors, class D, class T = hn::TFromD<D>>
HWY_INLINE void DepthwiseTile(D d, const DepthwiseBlock<T>& block, const DepthwisePlane<T>& plane, int64_t row,
                              int64_t column, int64_t step) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<D> sums[kRows][kVectors];
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::Set(d, plane.bias);
  DepthwiseSums<kKernel, kStride, kRows, kVectors>(d, block, plane.x + row * block.row_stride * block.in.row + column,
                                                   plane.w, step, sums);
  T* to = plane.y + row * block.columns + column;
  for (int r = 0; r < kRows; ++r, to += block.columns)
    for (int v = 0; v < kVectors; ++v) {
      T* const y = to + v * step;
      if (block.relu) sums[r][v] = hn::IfThenZeroElse(hn::Lt(sums[r][v], hn::Zero(d)), sums[r][v]);
      if (kVectors > 1 || plane.y_end - y >= lanes) {
        hn::StoreU(sums[r][v], d, y);
      } else {
        HWY_ALIGN T whole[hn::MaxLanes(D())];
        hn::Store(sums[r][v], d, whole);
        CopyNeighbours(d, whole, plane.y_end - y, y);
      }
    }
}

// Sums are chains: the last vector and the last rows may do over what those before them did.
template <int kKernel, int kStride, int kRows, class D, class T = hn::TFromD<D>>
HWY_INLINE void DepthwiseColumns(D d, const DepthwiseBlock<T>& block, const DepthwisePlane<T>& plane, int64_t row) {
  constexpr int kVectors = kDepthwiseSums / kRows;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t column = 0;
  if constexpr (kVectors > 2)
    for (; block.columns - column >= kVectors * lanes; column += kVectors * lanes)
      DepthwiseTile<kKernel, kStride, kRows, kVectors>(d, block, plane, row, column, lanes);
  while (block.columns - column > lanes) {
    const int64_t step = std::min(lanes, block.columns - column - lanes);
    DepthwiseTile<kKernel, kStride, kRows, 2>(d, block, plane, row, column, step);
    column += step + lanes;
  }
  if (column < block.columns)
    DepthwiseTile<kKernel, kStride, kRows, 1>(d, block, plane, row, std::max<int64_t>(0, block.columns - lanes), 0);
}

// block.rows >= kRows.
template <int kKernel, int kStride, int kRows, class T>
HWY_NOINLINE void DepthwisePlanes(const DepthwiseBlock<T>& given) {
  const hn::ScalableTag<T> d;
  const DepthwiseBlock<T> block = given;  // which no store can change
  const int64_t places = block.kernel_rows * block.kernel_columns;
  const T* const y_end = block.y + (block.planes - 1) * block.y_plane + block.rows * block.columns;
  for (int64_t p = 0; p < block.planes; ++p) {
    const DepthwisePlane<T> plane{block.padded + p * block.in.plane, block.w + p * places, block.bias[p],
                                  block.y + p * block.y_plane, y_end};
    for (int64_t row = 0; row < block.rows; row += kRows)
      DepthwiseColumns<kKernel, kStride, kRows>(d, block, plane, std::min(row, block.rows - kRows));
  }
}

template <class T>
HWY_INLINE void DepthwiseAll(const DepthwiseBlock<T>& block) {
  CopyPlanes(block);
  if (block.rows < 2) return DepthwisePlanes<0, 0, 1>(block);
  if (block.rows < kDepthwiseRows) return DepthwisePlanes<0, 0, 2>(block);
  const int64_t kernel = block.row_dilation == 1 ? block.kernel_rows : 0, stride = block.row_stride;
  if (kernel == 1 && stride == 1) return DepthwisePlanes<1, 1, kDepthwiseRows>(block);
  if (kernel == 3 && stride == 1) return DepthwisePlanes<3, 1, kDepthwiseRows>(block);
  if (kernel == 3 && stride == 2) return DepthwisePlanes<3, 2, kDepthwiseRows>(block);
  if (kernel == 5 && stride == 1) return DepthwisePlanes<5, 1, kDepthwiseRows>(block);
  if (kernel == 5 && stride == 2) return DepthwisePlanes<5, 2, kDepthwiseRows>(block);
  if (kernel == 7 && stride == 1) return DepthwisePlanes<7, 1, kDepthwiseRows>(block);
  DepthwisePlanes<0, 0, kDepthwiseRows>(block);
}

void DepthwiseFloats(const DepthwiseBlock<float>& block) { DepthwiseAll(block); }
void DepthwiseDoubles(const DepthwiseBlock<double>& block) { DepthwiseAll(block); }

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

// Numbers of a tile's padded rows: they stay in the first-level cache.
constexpr int64_t kTileNumbers = 1 << 12;
// Numbers that they may be if there are to be some rows of outputs.
constexpr int64_t kMostNumbers = 1 << 19;
constexpr int64_t kSomeRows = 8;
// Multiply-adds below which a thread is not worth waking.
constexpr double kPieceWork = 1 << 17;

template <class T>
int64_t LanesOf(const DepthwiseVariant& variant) {
  return std::is_same_v<T, float> ? variant.f32_lanes : variant.f64_lanes;
}

// Rows that `rows` rows of outputs see.
int64_t SeenRows(const Window& window, int64_t rows) {
  return (rows - 1) * window.stride[0] + (window.kernel[0] - 1) * window.dilation[0] + 1;
}

// Of a tile, at least: no fewer than what its rows share with those of the next one.
int64_t FewestRows(const Window& window) {
  const int64_t shared = (window.kernel[0] - 1) * window.dilation[0] / window.stride[0];
  return std::min(window.out[0], std::max(kSomeRows, shared));
}

// All but which rows.
DepthwiseRows LayRows(const Window& window, int64_t lanes) {
  const int64_t extent = (window.kernel[1] - 1) * window.dilation[1], out = window.out[1], stride = window.stride[1];
  DepthwiseRows in{.in_rows = window.in[0],
                   .in_columns = window.in[1],
                   .at = std::max<int64_t>(0, window.begin[1]),
                   .skip = std::max<int64_t>(0, -window.begin[1]),
                   .stride = stride,
                   .dilation = window.dilation[1],
                   .kernel = window.kernel[1]};
  in.count = std::max<int64_t>(0, std::min(in.in_columns - in.skip, (out - 1) * stride + extent + 1 - in.at));
  const int64_t wide = std::max(out, lanes);
  in.part = wide + (stride <= 2 ? extent / stride : 0);
  in.row = in.part * (stride <= 2 ? stride : in.kernel);
  return in;
}

}  // namespace

HWY_EXPORT(DepthwiseVariantHere);

const DepthwiseVariant& ActiveDepthwiseVariant() noexcept {
  EnsureIsa();
  return HWY_DYNAMIC_DISPATCH(DepthwiseVariantHere)();
}

template <class T>
bool DepthwiseConv<T>::Fits(const Window& window) {
  if (window.in.size() != 2) return false;
  const std::optional<int64_t> least =
      CheckedMul(LayRows(window, LanesOf<T>(ActiveDepthwiseVariant())).row, SeenRows(window, FewestRows(window)));
  return least && *least <= kMostNumbers;
}

template <class T>
DepthwiseConv<T>::DepthwiseConv(int64_t channels, int64_t kernel_rows, int64_t kernel_columns, const T* w,
                                const T* bias, bool flush_denormals)
    : channels_(channels), places_(kernel_rows * kernel_columns), variant_(&ActiveDepthwiseVariant()) {
  weights_ = MakeAlignedArray<T>(channels * (places_ + 1));
  T* to = weights_.get();
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t k = 0; k < kernel_columns; ++k)
      for (int64_t i = 0; i < kernel_rows; ++i) {
        const T value = w[c * places_ + i * kernel_columns + k];
        *to++ = flush_denormals ? FlushDenormal(value) : value;
      }
  for (int64_t c = 0; c < channels; ++c) *to++ = bias != nullptr ? bias[c] : T(0);
}

template <class T>
void DepthwiseConv<T>::Run(int64_t batch, const Window& window, const std::optional<Activation>& activation, const T* x,
                           T* y, ThreadTeam* team, int threads) const {
  const int64_t lanes = LanesOf<T>(*variant_), in_size = window.InSize(), out = window.OutSize();
  const DepthwiseRows lay = LayRows(window, lanes);
  // Tiles of some rows of one plane, or of some planes.
  int64_t length = window.out[0];
  if (SeenRows(window, length) * lay.row > kTileNumbers) {
    const int64_t most = (kTileNumbers / lay.row - SeenRows(window, 1)) / window.stride[0] + 1;
    length = std::max(FewestRows(window), most / kSomeRows * kSomeRows);
  }
  const int64_t tiles = Pieces(window.out[0], length), padded = SeenRows(window, length) * lay.row;
  const int64_t together = tiles > 1 ? 1 : std::clamp<int64_t>(kTileNumbers / padded, 1, channels_);
  const int64_t groups = Pieces(channels_, together), padded_size = together * padded;
  std::vector<int64_t> offsets;
  for (int64_t k = 0; k < window.kernel[1]; ++k) {
    const int64_t at = k * window.dilation[1];
    offsets.push_back(lay.stride <= 2 ? at % lay.stride * lay.part + at / lay.stride : k * lay.part);
  }
  const bool relu = activation && activation->kind == ActivationKind::kRelu;
  const auto piece = [&](int64_t index, T* scratch) {
    const int64_t first = index % tiles * length, channel = index / tiles % groups * together;
    const int64_t plane = index / tiles / groups * channels_ + channel;
    DepthwiseBlock<T> block{.planes = std::min(together, channels_ - channel),
                            .x = x + plane * in_size,
                            .in = lay,
                            .padded = scratch,
                            .offsets = offsets.data(),
                            .kernel_rows = window.kernel[0],
                            .kernel_columns = window.kernel[1],
                            .row_stride = window.stride[0],
                            .row_dilation = window.dilation[0],
                            .w = weights_.get() + channel * places_,
                            .bias = weights_.get() + channels_ * places_ + channel,
                            .relu = relu,
                            .y = y + plane * out + first * window.out[1],
                            .y_plane = out,
                            .rows = std::min(length, window.out[0] - first),
                            .columns = window.out[1]};
    block.in.first = first * window.stride[0] - window.begin[0];
    block.in.rows = SeenRows(window, block.rows);
    block.in.plane = padded;
    block.in.whole = tiles == 1;
    if constexpr (std::is_same_v<T, float>)
      variant_->f32(block);
    else
      variant_->f64(block);
    const int64_t made = (block.planes - 1) * out + block.rows * block.columns;
    if (activation && !relu) ApplyActivation(*activation, made, block.y, block.y);
  };
  const int64_t pieces = batch * groups * tiles;
  const double work = static_cast<double>(places_ * together) * static_cast<double>(length * window.out[1]);
  const int64_t grain = std::max<int64_t>(1, static_cast<int64_t>(kPieceWork / work));
  const auto range = [&](int64_t begin, int64_t end) {
    const Scratch<T> scratch(padded_size);
    std::fill_n(scratch.data(), padded_size, T(0));
    for (int64_t i = begin; i < end && !StopRequested(); ++i) piece(i, scratch.data());
  };
  RunPieces(pieces, grain, team, threads, range);
}

template class DepthwiseConv<float>;
template class DepthwiseConv<double>;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
#endif
