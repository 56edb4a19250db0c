// SPDX-License-Identifier: Apache-2.0
// The equations of lstm.h, written down: what the vector kernels are tested against.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/lstm/lstm.h"
#include "kernels/recurrent/recurrent_reference.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// One step of one row: h [H] and c [H] are replaced, x [I].
template <class T>
void ReferenceStep(const LstmCell& cell, const LstmWeights<T>& w, const T* x, std::vector<T>& h, std::vector<T>& c,
                   std::vector<T> (*seen)(const T*, int64_t)) {
  const int64_t inputs = w.input_size, hidden = w.hidden_size;
  const auto clip = [&](T v) { return Clipped(cell, v); };
  const std::vector<T> x_seen = seen(x, inputs), h_before = seen(h.data(), hidden);
  const auto z = [&](int gate, int64_t j) {
    const int64_t row = w.gates[gate] * hidden + j;
    const T bias = (w.wb != nullptr ? w.wb[row] : T(0)) + (w.rb != nullptr ? w.rb[row] : T(0));
    return PlusDot(PlusDot(bias, x_seen.data(), w.w + row * inputs, inputs), h_before.data(), w.r + row * hidden,
                   hidden);
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

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
