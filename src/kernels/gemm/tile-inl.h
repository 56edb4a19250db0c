// SPDX-License-Identifier: Apache-2.0
// The inner loop of every matrix product here, compiled once per instruction set.
//
// The right-hand matrix stands in panels of a few vectors of columns: [panel][k][kPanelVectors * lanes], so
// that a panel is read from front to back. A tile is some rows of the left-hand matrix times some panels, its sums in
// registers. Every element is one chain, init + a[0] b[0] + a[1] b[1] + ..., in that order, each step a MulAdd: it
// depends neither on how many rows or panels the tile has nor on where a caller cuts the work, which is what makes
// results independent of batch and threads.
#if defined(ONNXSEQ_KERNELS_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ONNXSEQ_KERNELS_TILE_INL_H_
#undef ONNXSEQ_KERNELS_TILE_INL_H_
#else
#define ONNXSEQ_KERNELS_TILE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <type_traits>

#include "kernels/gemm/panel.h"

HWY_BEFORE_NAMESPACE();
namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_NEON
inline constexpr bool kManyRegisters = true;
#else
inline constexpr bool kManyRegisters = false;
#endif
inline constexpr int kTileRows = 6;
// Of panels of kPanel vectors.
template <int kPanel>
inline constexpr int kTileRowsOf = kPanel == 3 && !kManyRegisters ? 4 : kTileRows;
// 32 registers hold 6 x 4 sums, a row's factor and four vectors of the panel; 16 hold 6 x 2 or 4 x 3, or 3 x 4 with the
// rows' factors and one vector. Fewer rows take more vectors, so that enough sums are in flight to hide a MulAdd's
// latency.
template <int kRows>
inline constexpr int kTileVectors = (kRows == 1   ? 8
                                     : kRows <= 3 ? 4
                                                  : 2) *
                                    (kManyRegisters ? 2 : 1);
// Of kVectors so many at once.
template <int kRows, int kVectors>
inline constexpr int kPartVectors =
    kVectors <= kTileVectors<kRows> || (kVectors == 3 && kRows == 4) ? kVectors : kTileVectors<kRows>;
template <int kRows, int kVectors>
inline constexpr int kTileParts = (kVectors - 1) / kPartVectors<kRows, kVectors> + 1;
// Groups of kVectors vectors that a tile of kRows rows takes at once: more panels than these are not fetched ahead, and
// the finer the tiles of one row, the more of what was read last is in the cache when they are taken in falling order.
inline constexpr int kMostGroups = 4;
template <int kRows, int kVectors>
inline constexpr int kTileGroups = kTileVectors<kRows> / kVectors < 1             ? 1
                                   : kTileVectors<kRows> / kVectors > kMostGroups ? kMostGroups
                                                                                  : kTileVectors<kRows> / kVectors;

// A vector of the right-hand matrix as what is computed. 16-bit numbers are bfloat16.
template <class D>
HWY_INLINE hn::Vec<D> LoadWeights(D d, const hn::TFromD<D>* HWY_RESTRICT from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> LoadWeights(D d, const uint16_t* HWY_RESTRICT from) {
  const hn::RebindToUnsigned<D> wide;
  const hn::Rebind<uint16_t, D> narrow;
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(wide, hn::LoadU(narrow, from))));
}

// v, loaded once: g++ makes a load that several multiply-adds use part of each of them, which are then more loads than
// a core has time for.
template <class V>
HWY_INLINE V InRegister(V v) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  __asm__("" : "+v"(v.raw));
#endif
  return v;
}

// What a tile asks memory for while it computes, for what comes after it.
struct NothingAhead {
  HWY_INLINE void Next() const {}
};
// A cache line each time, one after the other, into the L2: as often as a tile has k. None with step 0.
inline constexpr int64_t kLineBytes = 64;
struct LinesAhead {
  uintptr_t at;
  uintptr_t step = kLineBytes;
  HWY_INLINE void Next() {
    __builtin_prefetch(reinterpret_cast<const void*>(at), 0, 2);
    at += step;
  }
};

// The part of Tile below that has its sums in registers at the same time: vectors [kFirst, kFirst + kCount).
template <int kRows, int kFirst, int kCount, int kPanel, bool kFar, class D, class S, class Init, class Done,
          class Ahead, class T = hn::TFromD<D>>
HWY_INLINE void TilePart(D d, const T* const* a, int64_t k, const S* HWY_RESTRICT b, int64_t panel_stride, int64_t step,
                         const Init& init, const Done& done, Ahead& ahead) {
  using V = hn::Vec<D>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V sums[kRows][kCount];
  const T* HWY_RESTRICT rows[kRows];
  for (int r = 0; r < kRows; ++r) {
    rows[r] = a[r];
    for (int v = 0; v < kCount; ++v) sums[r][v] = init(r, kFirst + v);
  }
  const auto load = [&](int v) HWY_ATTR {
    const S* const from = b + (v / kPanel) * panel_stride + (v % kPanel) * lanes;
    if constexpr (kFar) __builtin_prefetch(reinterpret_cast<const char*>(from) + kFarAhead);
    const V column = LoadWeights(d, from);
    return kRows > 1 ? InRegister(column) : column;
  };
  for (int64_t i = 0; i < k; ++i, b += step) {
    ahead.Next();
    // What there is less of is kept.
    if constexpr (kRows <= kCount) {
      V factors[kRows];
      for (int r = 0; r < kRows; ++r) factors[r] = hn::Set(d, rows[r][i]);
      for (int v = 0; v < kCount; ++v) {
        const V column = load(kFirst + v);
        for (int r = 0; r < kRows; ++r) sums[r][v] = hn::MulAdd(factors[r], column, sums[r][v]);
      }
    } else {
      V columns[kCount];
      for (int v = 0; v < kCount; ++v) columns[v] = load(kFirst + v);
      for (int r = 0; r < kRows; ++r) {
        const V factor = InRegister(hn::Set(d, rows[r][i]));
        for (int v = 0; v < kCount; ++v) sums[r][v] = hn::MulAdd(factor, columns[v], sums[r][v]);
      }
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kCount; ++v) done(r, kFirst + v, sums[r][v]);
}

// sums[row][vector] for rows a[0..kRows), each `k` consecutive numbers, and panels at b, b + panel_stride, ..., whose
// rows of kPanel vectors are `step` numbers apart (kPanel * lanes when packed). b needs no alignment. init(row, vector)
// gives the start of a sum, done(row, vector, sum) takes it. kFar: b comes from beyond the L2.
template <int kRows, int kPanels, int kPanel = kPanelVectors, bool kFar = false, class D, class S, class Init,
          class Done, class Ahead = NothingAhead, class T = hn::TFromD<D>>
HWY_INLINE void Tile(D d, const T* const* a, int64_t k, const S* HWY_RESTRICT b, int64_t panel_stride, int64_t step,
                     const Init& init, const Done& done, Ahead ahead = {}) {
  constexpr int kVectors = kPanels * kPanel, kHead = kPartVectors<kRows, kVectors>, kRest = kVectors - kHead;
  static_assert(kRest <= kHead);
  TilePart<kRows, 0, kHead, kPanel, kFar>(d, a, k, b, panel_stride, step, init, done, ahead);
  if constexpr (kRest > 0)
    TilePart<kRows, kHead, kRest, kPanel, kFar>(d, a, k, b, panel_stride, step, init, done, ahead);
}

// fn(integral_constant<groups>, first group) for `groups`, a power of 2 up to kGroups.
template <int kGroups, class Fn>
HWY_INLINE void CallWithGroups(int64_t groups, int64_t group, const Fn& fn) {
  if constexpr (kGroups > 1) {
    if (groups < kGroups) return CallWithGroups<kGroups / 2>(groups, group, fn);
  }
  fn(std::integral_constant<int, kGroups>(), group);
}

// The same over all of [begin, end), from the front or from the back: kGroups at once, at the ends fewer. Of `together`
// groups that share a panel (gemm/panel.h) none are taken beside some of another panel but whole.
template <int kGroups, class Fn>
HWY_INLINE void CutGroups(int64_t begin, int64_t end, int64_t together, bool falling, const Fn& fn) {
  while (begin < end) {
    const int64_t at = falling ? end : begin, from_border = at % together;
    int64_t groups = kGroups;
    while (groups > end - begin || (from_border & (groups - 1) & (together - 1)) != 0) groups /= 2;
    CallWithGroups<kGroups>(groups, falling ? end - groups : begin, fn);
    (falling ? end : begin) += falling ? -groups : groups;
  }
}

// op.template Run<height, kPanels>(row, panel) for `height` from 2 to kMost.
template <int kMost, int kPanels, class Op>
HWY_INLINE void RunHeight(int64_t height, int64_t row, int64_t panel, const Op& op) {
  if constexpr (kMost > 2) {
    if (height < kMost) return RunHeight<kMost - 1, kPanels>(height, row, panel, op);
  }
  op.template Run<kMost, kPanels>(row, panel);
}

// Calls op.template Run<rows, panels>(first row, first panel) over all of rows x [panel_begin, panel_end), panels of
// kPanel vectors. A panel is used by all rows before the next one is touched: it stays in the cache. `falling`: panels
// from the last to the first.
template <int kPanel = kPanelVectors, class Op>
HWY_INLINE void ForEachTile(int64_t rows, int64_t panel_begin, int64_t panel_end, const Op& op, bool falling = false) {
  const auto cut = [&]<int kGroups>(std::integral_constant<int, kGroups>, const auto& fn)
                       HWY_ATTR { CutGroups<kGroups>(panel_begin, panel_end, PanelGroups(kPanel), falling, fn); };
  const auto whole = [&]<int kRows>(std::integral_constant<int, kRows>) HWY_ATTR {
    cut(std::integral_constant<int, kTileGroups<kRows, kPanel>>(),
        [&]<int kPanels>(std::integral_constant<int, kPanels>, int64_t panel)
            HWY_ATTR { op.template Run<kRows, kPanels>(0, panel); });
  };
  if (rows <= 0) return;
  if (rows == 1) return whole(std::integral_constant<int, 1>());
  if (rows == 2) return whole(std::integral_constant<int, 2>());
  if (rows == 3) return whole(std::integral_constant<int, 3>());
  // Pieces of equal heights, but for one row.
  constexpr int kMost = kTileRowsOf<kPanel>;
  const int64_t pieces = (rows - 1) / kMost + 1, least = rows / pieces, larger = rows % pieces;
  const auto in_pieces = [&]<int kPanels>(std::integral_constant<int, kPanels>, int64_t panel) HWY_ATTR {
    int64_t row = 0;
    for (int64_t piece = 0; piece < pieces; ++piece) {
      const int64_t height = least + (piece < larger ? 1 : 0);
      RunHeight<kMost, kPanels>(height, row, panel, op);
      row += height;
    }
  };
  cut(std::integral_constant<int, kTileGroups<kMost, kPanel>>(), in_pieces);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
