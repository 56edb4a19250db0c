// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "kernels/gemm/panel.h"
#include "kernels/recurrent/carver.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// Copies weights of files, [gate * H + unit] rows, into groups of hidden units. Over a null base it only counts: a
// kind's Pack is called once to measure and once to write.
template <class T>
class PanelPacker {
 public:
  PanelPacker(int64_t hidden, int64_t lanes, int64_t groups, bool flush, std::byte* base)
      : hidden_(hidden), lanes_(lanes), groups_(groups), flush_(flush), counting_(base == nullptr), carver_(base) {}

  // rows [.., k] of the file to [group][k][gate][lane]; blocks[gate] is the block of H rows that holds the gate.
  const T* Panels(const T* rows, int64_t k, std::span<const uint8_t> blocks) {
    const auto gates = static_cast<int64_t>(blocks.size()), width = gates * lanes_;
    T* const panels = carver_.Take<T>({groups_, lanes_, gates, k});
    if (counting_) return nullptr;
    T* to = panels;
    for (int64_t group = 0; group < groups_; ++group, to += k * width)
      for (int64_t gate = 0; gate < gates; ++gate)
        for (int64_t lane = 0; lane < lanes_; ++lane) {
          const int64_t unit = group * lanes_ + lane;
          const T* const row =
              unit < hidden_ ? rows + (blocks[static_cast<size_t>(gate)] * hidden_ + unit) * k : nullptr;
          T* const column = to + gate * lanes_ + lane;
          for (int64_t i = 0; i < k; ++i) column[i * width] = row == nullptr ? T(0) : Flushed(row[i]);
        }
    return panels;
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

  int64_t hidden_, lanes_, groups_;
  bool flush_, counting_;
  Carver carver_;
};

// a[i] + b[i], either may be null.
template <class T>
T SumOf(const T* a, const T* b, int64_t i) {
  return (a != nullptr ? a[i] : T(0)) + (b != nullptr ? b[i] : T(0));
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
