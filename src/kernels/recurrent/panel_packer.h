// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "kernels/gemm/panel.h"
#include "kernels/recurrent/carver.h"
#include "kernels/recurrent/recurrent.h"
#include "onnx_proto/config.h"
#include "onnxseq/float16.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// Copies weights of files, [gate * H + unit] rows, into groups of hidden units. Over a null base it only counts: a
// kind's Pack is called once to measure and once to write.
template <class T>
class PanelPacker {
 public:
  PanelPacker(const PackedSizes<T>& sizes, bool flush, std::byte* base)
      : hidden_(sizes.hidden_size),
        lanes_(sizes.lanes),
        groups_(sizes.groups),
        storage_(sizes.storage),
        flush_(flush),
        counting_(base == nullptr),
        carver_(base) {}

  // rows [.., k] of the file, or `bytes` where there are some, to the columns of groups; blocks[gate] is the block of H
  // rows that holds the gate.
  GateMatrix<T> Panels(const T* rows, int64_t k, std::span<const uint8_t> blocks, const ByteRows& bytes = {}) {
    GateMatrix<T> matrix;
    switch (storage_) {
      case WeightStorage::kFull:
        matrix.weights = PanelsAs<T>(rows, k, blocks, [](T value) { return value; });
        break;
      case WeightStorage::kBf16:
        matrix.weights =
            PanelsAs<uint16_t>(rows, k, blocks, [](T value) { return BFloat16(static_cast<float>(value)).bits; });
        break;
      case WeightStorage::kInt8:
        matrix = bytes.values != nullptr ? StoredBytes(bytes, k, blocks) : RoundedToBytes(rows, k, blocks);
        break;
    }
    matrix.groups = groups_;
    return matrix;
  }

  // [group][gate][lane] of value(gate, unit).
  template <class Value>
  const T* Vectors(int64_t gates, const Value& value) {
    T* const vectors = carver_.Take<T>({groups_, gates, lanes_});
    if (counting_) return nullptr;
    for (int64_t unit = 0; unit < groups_ * lanes_; ++unit)
      for (int64_t gate = 0; gate < gates; ++gate)
        vectors[(unit / lanes_ * gates + gate) * lanes_ + unit % lanes_] =
            unit < hidden_ ? Flushed(value(gate, unit)) : T(0);
    return vectors;
  }

  int64_t used() const { return carver_.used(); }
  // No weight seen so far is a NaN or an infinity.
  bool finite() const { return finite_; }

 private:
  T Flushed(T value) const { return flush_ ? FlushDenormal(value) : value; }

  static constexpr int64_t kNoRow = -1;
  // The row of the file behind a column [group][gate][lane]; kNoRow for a unit that is not there.
  int64_t RowOf(std::span<const uint8_t> blocks, int64_t column) const {
    const auto gates = static_cast<int64_t>(blocks.size());
    const int64_t unit = column / (gates * lanes_) * lanes_ + column % lanes_;
    if (unit >= hidden_) return kNoRow;
    return blocks[static_cast<size_t>(column / lanes_ % gates)] * hidden_ + unit;
  }

  // Stores encode(weight) in panels of groups.
  template <class S, class Encode>
  const S* PanelsAs(const T* rows, int64_t k, std::span<const uint8_t> blocks, const Encode& encode) {
    const auto gates = static_cast<int64_t>(blocks.size());
    const int64_t width = gates * lanes_;
    S* const panels = carver_.Take<S>({groups_, width, k});
    if (counting_) return nullptr;
    for (int64_t column = 0; column < groups_ * width; ++column) {
      const int64_t row = RowOf(blocks, column);
      const GroupPlace place(column / width, groups_, gates, width, k);
      S* const to = panels + place.first + column % width;
      for (int64_t i = 0; i < k; ++i) {
        to[i * place.step] = row == kNoRow ? S(0) : encode(Flushed(rows[row * k + i]));
        finite_ = finite_ && (row == kNoRow || std::isfinite(rows[row * k + i]));
      }
    }
    return panels;
  }

  // Stores number(row, i) for each weight, scale(row) and, with_zeros, zero(row).
  template <class Number, class Scale, class Zero>
  GateMatrix<T> ByteMatrix(int64_t k, std::span<const uint8_t> blocks, bool with_zeros, const Number& number,
                           const Scale& scale, const Zero& zero) {
    const auto gates = static_cast<int64_t>(blocks.size());
    const int64_t width = gates * lanes_, quads = k / kByteQuad + (k % kByteQuad != 0 ? 1 : 0);
    auto* const panels = carver_.Take<int8_t>({groups_, quads, width, kByteQuad});
    auto* const scales = carver_.Take<T>({groups_, width});
    auto* const sums = carver_.Take<int32_t>({groups_, width});
    auto* const zeros = with_zeros ? carver_.Take<int32_t>({groups_, width}) : nullptr;
    if (counting_) return {};
    std::fill_n(panels, groups_ * quads * width * kByteQuad, int8_t{0});
    for (int64_t column = 0; column < groups_ * width; ++column) {
      const int64_t row = RowOf(blocks, column);
      const bool there = row != kNoRow;
      const GroupPlace place(column / width, groups_, gates, width * kByteQuad, quads);
      int8_t* const to = panels + place.first + column % width * kByteQuad;
      scales[column] = there ? scale(row) : T(0);
      finite_ = finite_ && std::isfinite(scales[column]);
      if (with_zeros) zeros[column] = there ? zero(row) : 0;
      sums[column] = 0;
      for (int64_t i = 0; there && i < k; ++i) {
        const int8_t value = number(row, i);
        to[i / kByteQuad * place.step + i % kByteQuad] = value;
        sums[column] += value;
      }
    }
    return {.weights = panels, .scales = scales, .sums = sums, .zeros = zeros};
  }

  GateMatrix<T> RoundedToBytes(const T* rows, int64_t k, std::span<const uint8_t> blocks) {
    T scale = 0;  // of the row at hand: its scale is asked for before its numbers
    return ByteMatrix(
        k, blocks, false,
        [&](int64_t row, int64_t i) {
          const T code = scale > 0 ? std::nearbyint(Flushed(rows[row * k + i]) / scale) : T(0);
          return static_cast<int8_t>(std::clamp(code, T(-127), T(127)));
        },
        [&](int64_t row) { return scale = ScaleOf(rows + row * k, k); }, [](int64_t) { return 0; });
  }

  GateMatrix<T> StoredBytes(const ByteRows& bytes, int64_t k, std::span<const uint8_t> blocks) {
    const int64_t rows = static_cast<int64_t>(blocks.size()) * hidden_;
    const bool with_zeros = std::any_of(bytes.zeros, bytes.zeros + rows, [](int32_t zero) { return zero != 0; });
    return ByteMatrix(
        k, blocks, with_zeros, [&](int64_t row, int64_t i) { return bytes.values[row * k + i]; },
        [&](int64_t row) { return static_cast<T>(bytes.scales[row]); }, [&](int64_t row) { return bytes.zeros[row]; });
  }

  // The largest weight of a row / 127; NaN when one of them is not finite, for then sums are not either.
  T ScaleOf(const T* row, int64_t k) const {
    T most = 0;
    bool finite = true;
    for (int64_t i = 0; i < k; ++i) {
      finite = finite && std::isfinite(row[i]);
      most = std::max(most, std::abs(Flushed(row[i])));
    }
    return finite ? most / 127 : std::numeric_limits<T>::quiet_NaN();
  }

  int64_t hidden_, lanes_, groups_;
  WeightStorage storage_;
  bool flush_, counting_, finite_ = true;
  Carver carver_;
};

// a[i] + b[i], either may be null.
template <class T>
T SumOf(const T* a, const T* b, int64_t i) {
  return (a != nullptr ? a[i] : T(0)) + (b != nullptr ? b[i] : T(0));
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
