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

// Whole panels of C in place.
template <class T>
struct GemmOp {
  const GemmBlock<T>& block;

  template <int kRows, int kPanels>
  HWY_INLINE void Run(int64_t row, int64_t panel) const {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const T* a[kRows];
    for (int r = 0; r < kRows; ++r) a[r] = block.a + (row + r) * block.a_row;
    const int64_t column = panel * kPanelVectors * lanes;
    T* const c = block.c + row * block.c_row + column;
    const auto init = [&](int r, int v) HWY_ATTR {
      if (block.accumulate) return hn::LoadU(d, c + r * block.c_row + v * lanes);
      return block.bias != nullptr ? hn::LoadU(d, block.bias + column + v * lanes) : hn::Zero(d);
    };
    const auto done = [&](int r, const auto* sums) HWY_ATTR {
      for (int v = 0; v < kPanels * kPanelVectors; ++v) {
        auto y = sums[v];
        if (block.finish.added != nullptr) y = hn::Add(y, hn::LoadU(d, block.finish.added + column + v * lanes));
        if (block.finish.relu) y = hn::IfThenZeroElse(hn::Lt(y, hn::Zero(d)), y);
        hn::StoreU(y, d, c + r * block.c_row + v * lanes);
      }
    };
    Tile<kRows, kPanels>(d, a, block.k, block.b + panel * block.panel_stride, block.panel_stride, block.step, init,
                         done);
  }
};

template <class T>
HWY_INLINE void MultiplyBlock(const GemmBlock<T>& block) {
  const hn::ScalableTag<T> d;
  const auto width = static_cast<int64_t>(hn::Lanes(d)) * kPanelVectors;
  const int64_t whole = block.n / width, rest = block.n % width;
  ForEachTile(block.m, 0, whole, GemmOp<T>{block});
  if (rest == 0) return;
  // The last columns: a few rows at a time through a whole panel of scratch.
  constexpr int64_t kMaxWidth = kPanelVectors * HWY_MAX_BYTES / sizeof(T);
  HWY_ALIGN T scratch[kTileRows * kMaxWidth];
  HWY_ALIGN T bias[kMaxWidth] = {};
  HWY_ALIGN T added[kMaxWidth] = {};
  if (block.bias != nullptr && !block.accumulate)
    std::memcpy(bias, block.bias + whole * width, static_cast<size_t>(rest) * sizeof(T));
  if (block.finish.added != nullptr)
    std::memcpy(added, block.finish.added + whole * width, static_cast<size_t>(rest) * sizeof(T));
  for (int64_t row = 0; row < block.m; row += kTileRows) {
    GemmBlock<T> part = block;
    part.m = block.m - row < kTileRows ? block.m - row : kTileRows;
    part.n = width;
    part.a = block.a + row * block.a_row;
    part.b = block.b + whole * block.panel_stride;
    part.bias = block.bias != nullptr ? bias : nullptr;
    part.finish.added = block.finish.added != nullptr ? added : nullptr;
    part.c = scratch;
    part.c_row = width;
    T* const c = block.c + row * block.c_row + whole * width;
    if (block.accumulate)
      for (int64_t r = 0; r < part.m; ++r) {
        std::memset(scratch + r * width, 0, static_cast<size_t>(width) * sizeof(T));
        std::memcpy(scratch + r * width, c + r * block.c_row, static_cast<size_t>(rest) * sizeof(T));
      }
    ForEachTile(part.m, 0, 1, GemmOp<T>{part});
    for (int64_t r = 0; r < part.m; ++r)
      std::memcpy(c + r * block.c_row, scratch + r * width, static_cast<size_t>(rest) * sizeof(T));
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
