// SPDX-License-Identifier: Apache-2.0
// The semantics of recurrent.h in plain loops. A kind's reference adds one step of one row:
//   ReferenceStep(cell, weights, x [I], h [H], c [H], seen)   h and c are replaced
// seen(row, n) is what products see of a row of x or of a state: by default the row as it is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/recurrent/recurrent.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

template <class T>
T Clipped(const CellClip& cell, T v) {
  const T bound = static_cast<T>(cell.clip);
  return !cell.clips() ? v : v < -bound ? -bound : v > bound ? bound : v;
}

// sum + a . b
template <class T>
T PlusDot(T sum, const T* a, const T* b, int64_t n) {
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

template <class T>
std::vector<T> AsItIs(const T* row, int64_t n) {
  return {row, row + n};
}

// One direction. Semantics and preconditions as in recurrent.h. Allocates.
template <class Cell, class Weights, class T>
void RecurrentReference(const Cell& cell, const Weights& w, const RecurrentSequence<T>& io,
                        std::vector<T> (*seen)(const T* row, int64_t n) = AsItIs<T>) {
  const int64_t hidden = w.hidden_size;
  for (int64_t row = 0; row < io.rows; ++row) {
    const int64_t length = io.lengths != nullptr && io.steps > 0 ? io.lengths[row] : io.steps;
    const bool starts = length > 0 || !io.IsPadded(length);
    std::vector<T> h(hidden, T(0)), c(hidden, T(0));
    if (io.h0 != nullptr && starts) std::copy_n(io.H0Of(row), hidden, h.data());
    if (io.c0 != nullptr && starts) std::copy_n(io.C0Of(row), hidden, c.data());
    for (int64_t s = 0; s < (io.IsPadded(length) ? io.steps : length); ++s) {
      const int64_t step = io.reverse && s < length ? length - 1 - s : s;
      if (s < length) ReferenceStep(cell, w, io.XOf(row) + step * io.x_step, h, c, seen);
      if (io.y == nullptr) continue;
      T* const y = io.YOf(row) + step * io.y_step;
      for (int64_t j = 0; j < hidden; ++j) y[j] = s < length ? h[j] : T(0);
    }
    if (io.yh != nullptr) std::copy_n(h.data(), hidden, io.YhOf(row));
    if (io.yc != nullptr) std::copy_n(c.data(), hidden, io.YcOf(row));
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
