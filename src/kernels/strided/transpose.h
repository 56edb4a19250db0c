// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// to[j * to_row + i] = from[i * from_row + j] for i < 4, j < 4, through registers of four numbers.
template <class T>
inline void TransposeFour(const T* from, int64_t from_row, T* to, int64_t to_row) {
  static_assert(sizeof(T) == 4);
  using Four = uint32_t __attribute__((vector_size(16)));
  Four rows[4];
  for (int i = 0; i < 4; ++i) std::memcpy(&rows[i], from + i * from_row, sizeof(Four));
  const Four ab_low = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
  const Four ab_high = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
  const Four cd_low = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
  const Four cd_high = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
  const Four columns[4] = {
      __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5), __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7),
      __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5), __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7)};
  for (int j = 0; j < 4; ++j) std::memcpy(to + j * to_row, &columns[j], sizeof(Four));
}

// The same of bytes, for i < 16, j < 16: interleaving row i with row i + 8, four times, turns the square.
template <class T>
inline void TransposeSixteen(const T* from, int64_t from_row, T* to, int64_t to_row) {
  static_assert(sizeof(T) == 1);
  using Sixteen = uint8_t __attribute__((vector_size(16)));
  Sixteen a[16], b[16];
  for (int i = 0; i < 16; ++i) std::memcpy(&a[i], from + i * from_row, sizeof(Sixteen));
  const auto turn = [](const Sixteen* in, Sixteen* out) {
    for (int i = 0; i < 8; ++i) {
      out[2 * i] = __builtin_shufflevector(in[i], in[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      out[2 * i + 1] =
          __builtin_shufflevector(in[i], in[i + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
  };
  turn(a, b);
  turn(b, a);
  turn(a, b);
  turn(b, a);
  for (int j = 0; j < 16; ++j) std::memcpy(to + j * to_row, &a[j], sizeof(Sixteen));
}

// to[j * to_row + i] = from[i * from_row + j] for i < rows, j < columns; in squares, so that each cache line is used
// whole while it is near, one after the other along the rows of `to`: few streams are written at once.
template <class T>
void TransposeInto(const T* from, int64_t from_row, T* to, int64_t to_row, int64_t rows, int64_t columns) {
  constexpr int64_t kSide = 16;
  for (int64_t j0 = 0; j0 < columns; j0 += kSide) {
    const int64_t j1 = std::min(columns, j0 + kSide);
    for (int64_t i0 = 0; i0 < rows; i0 += kSide) {
      const int64_t i1 = std::min(rows, i0 + kSide);
      int64_t j = j0;
      if constexpr (sizeof(T) == 1 && std::is_trivially_copyable_v<T>) {
        if (i1 - i0 == kSide && j1 - j0 == kSide) {
          TransposeSixteen(from + i0 * from_row + j0, from_row, to + j0 * to_row + i0, to_row);
          continue;
        }
      }
      if constexpr (sizeof(T) == 4 && std::is_trivially_copyable_v<T>) {
        for (; j + 4 <= j1; j += 4) {
          int64_t i = i0;
          for (; i + 4 <= i1; i += 4) TransposeFour(from + i * from_row + j, from_row, to + j * to_row + i, to_row);
          for (; i < i1; ++i)
            for (int64_t side = j; side < j + 4; ++side) to[side * to_row + i] = from[i * from_row + side];
        }
      }
      for (; j < j1; ++j)
        for (int64_t i = i0; i < i1; ++i) to[j * to_row + i] = from[i * from_row + j];
    }
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
