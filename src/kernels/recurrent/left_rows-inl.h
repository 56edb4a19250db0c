// SPDX-License-Identifier: Apache-2.0
// The left side of the products of recurrent kernels, rows of x or of a state: as they are or, for weights that are
// bytes, rounded to bytes. Compiled once per instruction set.
#if defined(ONNXSEQ_KERNELS_LEFT_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ONNXSEQ_KERNELS_LEFT_ROWS_INL_H_
#undef ONNXSEQ_KERNELS_LEFT_ROWS_INL_H_
#else
#define ONNXSEQ_KERNELS_LEFT_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/gemm/tile-inl.h"
#include "kernels/recurrent/recurrent_variant.h"

HWY_BEFORE_NAMESPACE();
namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// How a product goes through rows and panels.
struct Walk {
  int64_t rows;        // in all
  int64_t next;        // 1 or -1: panels come in rising or falling order
  bool rows_are_cold;  // nobody has read them lately
};

// Rows as they are, times weights stored as S.
template <class S, class T>
struct LeftRows {
  const T* const* rows;
  bool far;  // weights of which groups share a panel are asked for ahead

  // Tiles (gemm/tile-inl.h) of kRows rows from `row` on and kPanels groups from `group` on.
  template <int kRows, int kPanels, int kVectors, class D, class Init, class Done>
  HWY_INLINE void Times(D d, int64_t row, int64_t group, int64_t k, const GateMatrix<T>& matrix, const Walk& walk,
                        const Init& init, const Done& done) const {
    constexpr int kTogether = PanelGroups(kVectors), kWidth = kVectors * (kPanels < kTogether ? kPanels : kTogether);
    const GroupPlace place(group, matrix.groups, kVectors, kVectors * static_cast<int64_t>(hn::Lanes(d)), k);
    const S* const b = static_cast<const S*>(matrix.weights) + place.first;
    const auto tile = [&]<bool kFar>(std::bool_constant<kFar>, auto ahead) HWY_ATTR {
      Tile<kRows, kPanels * kVectors / kWidth, kWidth, kFar>(d, rows + row, k, b, k * place.step, place.step, init,
                                                             done, ahead);
    };
    // Several rows have enough to do while panels come.
    if constexpr (kRows == 1 && kTogether > 1) {
      if (far) return tile(std::true_type(), NothingAhead());
    }
    if constexpr (kRows > 3)
      tile(std::false_type(), Ahead<kRows, kTileParts<kRows, kPanels * kVectors>>(
                                  row, k, b, k * kPanels * kVectors * static_cast<int64_t>(hn::Lanes(d)), walk));
    else
      tile(std::false_type(), NothingAhead());
  }

  // Panels are used by all rows before the next ones, of `size` numbers: by the time those are needed the first tiles
  // have asked for them, a part each, and the later ones for rows to come. A tile of one part that meets its panel once
  // reads it from front to back, which the hardware sees coming.
  template <int kRows, int kParts>
  LinesAhead Ahead(int64_t row, int64_t k, const S* b, int64_t size, const Walk& walk) const {
    const auto here = reinterpret_cast<uintptr_t>(b);
    const int64_t bytes = size * static_cast<int64_t>(sizeof(S)), part = row / kRows * kParts * k * kLineBytes;
    if ((walk.rows > kRows || kParts > 1) && part < bytes)
      return {here + static_cast<uintptr_t>(walk.next * bytes + part)};
    if (walk.rows_are_cold && row + kRows < walk.rows) return {reinterpret_cast<uintptr_t>(rows[row + kRows])};
    return {here, 0};
  }
};

inline int64_t QuadsOf(int64_t k) { return (k + kByteQuad - 1) / kByteQuad; }

// Rows as bytes.
template <>
struct LeftRows<int8_t, float> {
  const ByteKernel* kernel;
  const uint8_t* codes;
  const RowCode* row_codes;
  bool far;  // the weights come from beyond the L2

  // The sum of integers is exact; it is scaled once, and what it begins with added then.
  template <int kRows, int kPanels, int kVectors, class D, class Init, class Done>
  HWY_INLINE void Times(D d, int64_t row, int64_t group, int64_t k, const GateMatrix<float>& matrix, const Walk&,
                        const Init& init, const Done& done) const {
    constexpr int kAll = kPanels * kVectors, kTogether = PanelGroups(kVectors),
                  kWidth = kVectors * (kPanels < kTogether ? kPanels : kTogether);
    const hn::RebindToSigned<D> di;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const int64_t quads = QuadsOf(k);
    const GroupPlace place(group, matrix.groups, kVectors, kVectors * lanes * kByteQuad, quads);
    HWY_ALIGN int32_t products[kRows * kAll * (HWY_MAX_BYTES / sizeof(int32_t))];
    kernel->multiply({.a = codes + row * quads * kByteQuad,
                      .a_row = quads * kByteQuad,
                      .rows = kRows,
                      .quads = quads,
                      .b = static_cast<const int8_t*>(matrix.weights) + place.first,
                      .panel_bytes = quads * place.step,
                      .quad_bytes = place.step,
                      .panels = kAll / kWidth,
                      .vectors = kWidth,
                      .lanes = lanes,
                      .far = far,
                      .sums = products});
    for (int r = 0; r < kRows; ++r) {
      const RowCode& code = row_codes[row + r];
      for (int v = 0; v < kAll; ++v) {
        // The sum of (a - za) (b - zb) = that of a b, less za times that of b, less zb times that of (a - za).
        const int64_t at = (group * kVectors + v) * lanes;
        auto sum = hn::Sub(hn::Load(di, products + (r * kAll + v) * lanes),
                           hn::Mul(hn::Set(di, code.zero), hn::Load(di, matrix.sums + at)));
        if (matrix.zeros != nullptr)
          sum = hn::Sub(sum, hn::Mul(hn::Set(di, code.total), hn::Load(di, matrix.zeros + at)));
        done(r, v,
             hn::MulAdd(hn::ConvertTo(d, sum), hn::Mul(hn::Set(d, code.scale), hn::Load(d, matrix.scales + at)),
                        init(r, v)));
      }
    }
  }
};

// The least and greatest of 0 and some values; `spoilt` is NaN where one of them is not finite, otherwise 0.
struct ValueRange {
  float least = 0, greatest = 0, spoilt = 0;

  void Include(const float* values, int64_t count) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const auto zero = hn::Zero(d);
    auto low = zero, high = zero, bad = zero;
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
      const auto value = hn::LoadU(d, values + i);
      low = hn::Min(value, low);
      high = hn::Max(value, high);
      bad = hn::MulAdd(value, zero, bad);
    }
    least = std::min(least, hn::GetLane(hn::MinOfLanes(d, low)));
    greatest = std::max(greatest, hn::GetLane(hn::MaxOfLanes(d, high)));
    spoilt += hn::GetLane(hn::SumOfLanes(d, bad));
    for (; i < count; ++i) {
      least = std::min(least, values[i]);
      greatest = std::max(greatest, values[i]);
      spoilt += values[i] * 0.0f;
    }
  }

  // How bytes stand for values of the range: 0 is one of them exactly.
  RowCode Code() const {
    RowCode code;
    if (spoilt != 0) return code;
    const float step = (greatest - least) / 255;
    if (step >= std::numeric_limits<float>::min()) code.scale = step;
    code.zero = static_cast<int32_t>(std::nearbyint(std::clamp(-least / code.scale, 0.0f, 255.0f)));
    return code;
  }
};

// values as bytes, filled up to whole quads with some that meet weights of 0; sets the total of the code.
inline void EncodeRow(const float* values, int64_t count, uint8_t* bytes, RowCode& code) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<uint8_t, decltype(d)> db;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto zero = static_cast<float>(code.zero);
  const auto low = hn::Set(d, -zero), high = hn::Set(d, 255 - zero), scale = hn::Set(d, code.scale);
  const auto shift = hn::Set(di, code.zero);
  auto totals = hn::Zero(di);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto value = hn::NearestInt(hn::Min(hn::Max(hn::Div(hn::LoadU(d, values + i), scale), low), high));
    totals = hn::Add(totals, value);
    hn::StoreU(hn::DemoteTo(db, hn::Add(value, shift)), db, bytes + i);
  }
  code.total = hn::GetLane(hn::SumOfLanes(di, totals));
  for (; i < count; ++i) {
    // A value that is not a number may be any byte: the scale says so.
    const float value = values[i] / code.scale;
    const float held = value > -zero ? std::min(value, 255 - zero) : -zero;
    const auto whole = static_cast<int32_t>(std::nearbyint(held));
    code.total += whole;
    bytes[i] = static_cast<uint8_t>(whole + code.zero);
  }
  for (; i < QuadsOf(count) * kByteQuad; ++i) bytes[i] = 0;
}

// The first `count` of share.rows, of k numbers each, for weights that are far or not. Where ranges are shared: by
// `range` and the first `others` rows.
template <class S, class T>
HWY_INLINE LeftRows<S, T> Left(S, const PackedSizes<T>&, const RecurrentShare<T>& share, int64_t, int64_t, bool far,
                               int64_t, const ValueRange& = {}) {
  return {share.rows, far};
}
inline LeftRows<int8_t, float> Left(int8_t, const PackedSizes<float>& w, const RecurrentShare<float>& share,
                                    int64_t count, int64_t k, bool far, int64_t others, ValueRange range = {}) {
  if (w.shared_ranges)
    for (int64_t row = 0; row < others; ++row) range.Include(share.rows[row], k);
  for (int64_t row = 0; row < count; ++row) {
    if (!w.shared_ranges) {
      range = ValueRange();
      range.Include(share.rows[row], k);
    }
    RowCode code = range.Code();
    EncodeRow(share.rows[row], k, share.codes + row * QuadsOf(k) * kByteQuad, code);
    code.scale += range.spoilt;
    share.row_codes[row] = code;
  }
  return {w.bytes, share.codes, share.row_codes, far};
}

// That of all steps of all rows of a part.
template <class Part>
ValueRange RangeOfAllX(const Part& part) {
  ValueRange range;
  if constexpr (std::is_same_v<std::remove_cv_t<std::remove_pointer_t<decltype(part.h)>>, float>) {
    for (int64_t row = 0; row < part.rows; ++row)
      for (int64_t step = 0; step < part.lengths[row]; ++step)
        range.Include(part.io->XOf(part.order[row]) + step * part.io->x_step, part.weights->input_size);
  }
  return range;
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
