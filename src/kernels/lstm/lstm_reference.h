// SPDX-License-Identifier: Apache-2.0
// The equations of lstm.h, written down: what the vector kernels are tested against.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/lstm/lstm.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// One step of one row: h [H] and c [H] are replaced, x [I].
template <class T>
void LstmReferenceStep(const LstmCell& cell, const LstmWeights<T>& w, const T* x, std::vector<T>& h,
                       std::vector<T>& c) {
  const int64_t inputs = w.input_size, hidden = w.hidden_size;
  const auto clip = [&](T v) {
    const T bound = static_cast<T>(cell.clip);
    return !cell.clips() ? v : v < -bound ? -bound : v > bound ? bound : v;
  };
  const std::vector<T> h_before = h;
  const auto z = [&](int gate, int64_t j) {
    const int64_t row = w.gates[gate] * hidden + j;
    T sum = (w.wb != nullptr ? w.wb[row] : T(0)) + (w.rb != nullptr ? w.rb[row] : T(0));
    for (int64_t i = 0; i < inputs; ++i) sum += x[i] * w.w[row * inputs + i];
    for (int64_t i = 0; i < hidden; ++i) sum += h_before[i] * w.r[row * hidden + i];
    return sum;
  };
  const auto peephole = [&](int gate, int64_t j) {
    return w.p != nullptr ? w.p[w.peepholes[gate] * hidden + j] : T(0);
  };
  for (int64_t j = 0; j < hidden; ++j) {
    T i = Activate(cell.f, clip(z(0, j) + peephole(0, j) * c[j]));
    T f = Activate(cell.f, clip(z(2, j) + peephole(2, j) * c[j]));
    if (cell.coupling == LstmCoupling::kForgetFromInput) f = 1 - i;
    if (cell.coupling == LstmCoupling::kInputFromForget) i = 1 - f;
    c[j] = f * c[j] + i * Activate(cell.g, clip(z(3, j)));
    h[j] = Activate(cell.f, clip(z(1, j) + peephole(1, j) * c[j])) * Activate(cell.h, c[j]);
  }
}

// One direction. Semantics and preconditions as in lstm.h. Allocates.
template <class T>
void LstmReference(const LstmCell& cell, const LstmWeights<T>& w, const LstmSequence<T>& io) {
  const int64_t hidden = w.hidden_size;
  for (int64_t row = 0; row < io.rows; ++row) {
    const int64_t length = io.lengths != nullptr && io.steps > 0 ? io.lengths[row] : io.steps;
    const auto state = [&](const T* start, int64_t stride) {
      std::vector<T> values(hidden, T(0));
      if (start != nullptr && (length > 0 || io.steps == 0)) std::copy_n(start + row * stride, hidden, values.data());
      return values;
    };
    std::vector<T> h = state(io.h0, io.h0_row), c = state(io.c0, io.c0_row);
    for (int64_t s = 0; s < io.steps; ++s) {
      const int64_t step = io.reverse && s < length ? length - 1 - s : s;
      if (s < length) LstmReferenceStep(cell, w, io.x + row * io.x_row + step * io.x_step, h, c);
      if (io.y == nullptr) continue;
      T* const y = io.y + row * io.y_row + step * io.y_step;
      for (int64_t j = 0; j < hidden; ++j) y[j] = s < length ? h[j] : T(0);
    }
    if (io.yh != nullptr) std::copy_n(h.data(), hidden, io.yh + row * io.yh_row);
    if (io.yc != nullptr) std::copy_n(c.data(), hidden, io.yc + row * io.yc_row);
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
