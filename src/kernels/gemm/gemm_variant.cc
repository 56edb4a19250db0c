// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/gemm_variant.h"

#include <cstring>
#include <type_traits>

#include "base/cpu_features.h"
#include "kernels/gemm/panel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/gemm_variant.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/gemm/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE {

// Panels of C in place: whole ones, or of one the first kUsed vectors.
template <class T, int kUsed>
struct GemmOp {
  const GemmBlock<T>& block;

  template <int kRows, int kPanels>
  HWY_INLINE void Run(int64_t row, int64_t panel) const {
    static_assert(kUsed == kPanelVectors || kPanels == 1);
    constexpr int kVectors = kPanels * kUsed;
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const int64_t column = panel * kPanelVectors * lanes;
    T* const c = block.c + row * block.c_row + column;
    const T* b = block.b + panel * block.panel_stride;
    const T* a[kRows];
    hn::Vec<decltype(d)> sums[kRows][kVectors];
    for (int r = 0; r < kRows; ++r) {
      a[r] = block.a + (block.rows != nullptr ? block.rows[row + r] + block.segments[0] : (row + r) * block.a_row);
      for (int v = 0; v < kVectors; ++v) {
        if (block.accumulate)
          sums[r][v] = hn::LoadU(d, c + r * block.c_row + v * lanes);
        else
          sums[r][v] = block.bias != nullptr ? hn::LoadU(d, block.bias + column + v * lanes) : hn::Zero(d);
      }
    }
    const auto init = [&](int r, int v) HWY_ATTR { return sums[r][v]; };
    const auto done = [&](int r, int v, hn::Vec<decltype(d)> sum) HWY_ATTR { sums[r][v] = sum; };
    for (int64_t segment = 0;;) {
      Tile<kRows, kPanels, kUsed>(d, a, block.k, b, block.panel_stride, block.step, init, done);
      if (++segment == block.segment_count) break;
      b += block.k * block.step;
      for (int r = 0; r < kRows; ++r) a[r] += block.segments[segment] - block.segments[segment - 1];
    }
    for (int r = 0; r < kRows; ++r)
      for (int v = 0; v < kVectors; ++v) {
        auto y = sums[r][v];
        if (block.finish.added != nullptr) y = hn::Add(y, hn::LoadU(d, block.finish.added + column + v * lanes));
        if (block.finish.relu) y = hn::IfThenZeroElse(hn::Lt(y, hn::Zero(d)), y);
        hn::StoreU(y, d, c + r * block.c_row + v * lanes);
      }
  }
};

// The first panel, `rows` of at most kRows rows.
template <int kRows, class Op>
HWY_INLINE void RunRows(int64_t rows, const Op& op) {
  if (rows == kRows) return op.template Run<kRows, 1>(0, 0);
  if constexpr (kRows > 1) RunRows<kRows - 1>(rows, op);
}

// The last columns, kUsed vectors of them, the last one perhaps not whole: a few rows at a time through scratch.
template <int kUsed, class T>
HWY_INLINE void MultiplyRest(const GemmBlock<T>& block) {
  const hn::ScalableTag<T> d;
  const auto width = static_cast<int64_t>(hn::Lanes(d)) * kUsed;
  constexpr int64_t kMaxWidth = kUsed * HWY_MAX_BYTES / sizeof(T);
  HWY_ALIGN T scratch[kTileRows * kMaxWidth];
  HWY_ALIGN T bias[kMaxWidth] = {};
  HWY_ALIGN T added[kMaxWidth] = {};
  const size_t bytes = static_cast<size_t>(block.n) * sizeof(T);
  if (block.finish.added != nullptr) std::memcpy(added, block.finish.added, bytes);
  if (block.bias != nullptr && !block.accumulate) std::memcpy(bias, block.bias, bytes);
  for (int64_t row = 0; row < block.m; row += kTileRows) {
    GemmBlock<T> part = block;
    part.m = block.m - row < kTileRows ? block.m - row : kTileRows;
    if (block.rows != nullptr)
      part.rows = block.rows + row;
    else
      part.a = block.a + row * block.a_row;
    part.bias = block.bias != nullptr ? bias : nullptr;
    part.finish.added = block.finish.added != nullptr ? added : nullptr;
    part.c = scratch;
    part.c_row = width;
    T* const c = block.c + row * block.c_row;
    if (block.accumulate)
      for (int64_t r = 0; r < part.m; ++r) {
        std::memset(scratch + r * width, 0, static_cast<size_t>(width) * sizeof(T));
        std::memcpy(scratch + r * width, c + r * block.c_row, bytes);
      }
    RunRows<kTileRows>(part.m, GemmOp<T, kUsed>{part});
    for (int64_t r = 0; r < part.m; ++r) std::memcpy(c + r * block.c_row, scratch + r * width, bytes);
  }
}

template <class T>
HWY_INLINE void MultiplyBlock(const GemmBlock<T>& block) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), width = lanes * kPanelVectors;
  const int64_t whole = block.n / width;
  ForEachTile(block.m, 0, whole, GemmOp<T, kPanelVectors>{block});
  GemmBlock<T> rest = block;
  rest.n = block.n % width;
  rest.b = block.b + whole * block.panel_stride;
  rest.bias = block.bias != nullptr ? block.bias + whole * width : nullptr;
  if (block.finish.added != nullptr) rest.finish.added = block.finish.added + whole * width;
  rest.c = block.c + whole * width;
  switch ((rest.n + lanes - 1) / lanes) {
    case 0:
      return;
    case 1:
      return MultiplyRest<1>(rest);
    case 2:
      return MultiplyRest<2>(rest);
    default:
      return MultiplyRest<kPanelVectors>(rest);
  }
}

void MultiplyFloat(const GemmBlock<float>& block) { MultiplyBlock(block); }
void MultiplyDouble(const GemmBlock<double>& block) { MultiplyBlock(block); }

const GemmVariant& GemmVariantHere() {
  static const GemmVariant variant = {static_cast<int64_t>(hn::Lanes(hn::ScalableTag<float>())),
                                      static_cast<int64_t>(hn::Lanes(hn::ScalableTag<double>())), MultiplyFloat,
                                      MultiplyDouble};
  return variant;
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ONNX_LIGHT_NAMESPACE::kernels {

HWY_EXPORT(GemmVariantHere);

const GemmVariant& ActiveGemmVariant() noexcept {
  EnsureIsa();
  return HWY_DYNAMIC_DISPATCH(GemmVariantHere)();
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
#endif
