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

  // rows [.., k] of the file to [group][k][gate][lane]; blocks[gate] is the block of H rows that holds the gate.
  GateMatrix<T> Panels(const T* rows, int64_t k, std::span<const uint8_t> blocks) {
    GateMatrix<T> matrix;
    switch (storage_) {
      case WeightStorage::kFull:
        matrix.weights = PanelsAs<T>(rows, k, blocks, [](int64_t, T value) { return value; });
        break;
      case WeightStorage::kBf16:
        matrix.weights = PanelsAs<uint16_t>(rows, k, blocks,
                                            [](int64_t, T value) { return BFloat16(static_cast<float>(value)).bits; });
        break;
      case WeightStorage::kInt8: {
        const T* const scales = Scales(rows, k, blocks);
        matrix.scales = scales;
        matrix.weights = PanelsAs<int8_t>(rows, k, blocks, [scales](int64_t column, T value) {
          const T code = scales[column] > 0 ? std::nearbyint(value / scales[column]) : T(0);
          return static_cast<int8_t>(std::clamp(code, T(-127), T(127)));
        });
        break;
      }
    }
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

 private:
  T Flushed(T value) const { return flush_ ? FlushDenormal(value) : value; }

  // The row of the file behind a column [group][gate][lane]; null for a unit that is not there.
  const T* RowOf(const T* rows, int64_t k, std::span<const uint8_t> blocks, int64_t column) const {
    const auto gates = static_cast<int64_t>(blocks.size());
    const int64_t unit = column / (gates * lanes_) * lanes_ + column % lanes_;
    if (unit >= hidden_) return nullptr;
    return rows + (blocks[static_cast<size_t>(column / lanes_ % gates)] * hidden_ + unit) * k;
  }

  // Stores encode(column, weight).
  template <class S, class Encode>
  const S* PanelsAs(const T* rows, int64_t k, std::span<const uint8_t> blocks, const Encode& encode) {
    const auto gates = static_cast<int64_t>(blocks.size()), width = gates * lanes_;
    S* const panels = carver_.Take<S>({groups_, lanes_, gates, k});
    if (counting_) return nullptr;
    for (int64_t column = 0; column < groups_ * width; ++column) {
      const T* const row = RowOf(rows, k, blocks, column);
      S* const to = panels + column / width * k * width + column % width;
      for (int64_t i = 0; i < k; ++i) to[i * width] = row == nullptr ? S(0) : encode(column, Flushed(row[i]));
    }
    return panels;
  }

  // [group][gate][lane]: the largest weight of the column / 127; NaN when one of them is not finite, for then sums are
  // not either.
  const T* Scales(const T* rows, int64_t k, std::span<const uint8_t> blocks) {
    const auto gates = static_cast<int64_t>(blocks.size());
    T* const scales = carver_.Take<T>({groups_, gates, lanes_});
    if (counting_) return nullptr;
    for (int64_t column = 0; column < groups_ * gates * lanes_; ++column) {
      const T* const row = RowOf(rows, k, blocks, column);
      T most = 0;
      bool finite = true;
      for (int64_t i = 0; row != nullptr && i < k; ++i) {
        finite = finite && std::isfinite(row[i]);
        most = std::max(most, std::abs(Flushed(row[i])));
      }
      scales[column] = finite ? most / 127 : std::numeric_limits<T>::quiet_NaN();
    }
    return scales;
  }

  int64_t hidden_, lanes_, groups_;
  WeightStorage storage_;
  bool flush_, counting_;
  Carver carver_;
};

// a[i] + b[i], either may be null.
template <class T>
T SumOf(const T* a, const T* b, int64_t i) {
  return (a != nullptr ? a[i] : T(0)) + (b != nullptr ? b[i] : T(0));
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
