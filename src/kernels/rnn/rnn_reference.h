// SPDX-License-Identifier: Apache-2.0
// The equations of rnn.h, written down: what the vector kernels are tested against.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/recurrent/recurrent_reference.h"
#include "kernels/rnn/rnn.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// One step of one row: h [H] is replaced, x [I]; there is no c.
template <class T>
void ReferenceStep(const RnnCell& cell, const RnnWeights<T>& w, const T* x, std::vector<T>& h, std::vector<T>&,
                   std::vector<T> (*seen)(const T*, int64_t)) {
  const std::vector<T> x_seen = seen(x, w.input_size), before = seen(h.data(), w.hidden_size);
  for (int64_t j = 0; j < w.hidden_size; ++j) {
    const T bias = (w.wb != nullptr ? w.wb[j] : T(0)) + (w.rb != nullptr ? w.rb[j] : T(0));
    const T of_x = PlusDot(bias, x_seen.data(), w.w + j * w.input_size, w.input_size);
    h[j] = Activate(cell.f, Clipped(cell, PlusDot(of_x, before.data(), w.r + j * w.hidden_size, w.hidden_size)));
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
