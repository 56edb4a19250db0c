// SPDX-License-Identifier: Apache-2.0
// The equations of gru.h, written down: what the vector kernels are tested against.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/gru/gru.h"
#include "kernels/recurrent/recurrent_reference.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// One step of one row: h [H] is replaced, x [I]; there is no c.
template <class T>
void ReferenceStep(const GruCell& cell, const GruWeights<T>& w, const T* x, std::vector<T>& h, std::vector<T>&,
                   std::vector<T> (*seen)(const T*, int64_t)) {
  const int64_t inputs = w.input_size, hidden = w.hidden_size;
  const std::vector<T> x_seen = seen(x, inputs), h_seen = seen(h.data(), hidden);
  const auto row_of = [&](int gate, int64_t j) { return gate * hidden + j; };
  const auto of_x = [&](int gate, int64_t j) {
    return PlusDot(w.wb != nullptr ? w.wb[row_of(gate, j)] : T(0), x_seen.data(), w.w + row_of(gate, j) * inputs,
                   inputs);
  };
  const auto of_state = [&](int gate, int64_t j, const std::vector<T>& state) {
    T bias = w.rb != nullptr ? w.rb[row_of(gate, j)] : T(0);
    if (gate == 2 && w.rb == nullptr && w.candidate_rb != nullptr) bias = w.candidate_rb[j];
    return PlusDot(bias, state.data(), w.r + row_of(gate, j) * hidden, hidden);
  };
  std::vector<T> reset(h.size()), reset_state(h.size()), after(h.size());
  for (int64_t j = 0; j < hidden; ++j) {
    reset[j] = Activate(cell.f, Clipped(cell, of_x(1, j) + of_state(1, j, h_seen)));
    reset_state[j] = reset[j] * h[j];
  }
  const std::vector<T> reset_seen = seen(reset_state.data(), hidden);
  for (int64_t j = 0; j < hidden; ++j) {
    const T z = Activate(cell.f, Clipped(cell, of_x(0, j) + of_state(0, j, h_seen)));
    const T of_r = cell.linear_before_reset ? reset[j] * of_state(2, j, h_seen) : of_state(2, j, reset_seen);
    after[j] = (1 - z) * Activate(cell.g, Clipped(cell, of_x(2, j) + of_r)) + z * h[j];
  }
  h = after;
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
