// SPDX-License-Identifier: Apache-2.0
// resample: along one axis, each output a weighted sum of a few inputs.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// Output i has the taps [begin[i], begin[i + 1]): input `index`, in [0, n), with `weight`.
struct Taps {
  std::vector<int64_t> begin{0};
  std::vector<int64_t> index;
  std::vector<double> weight;

  int64_t outputs() const { return static_cast<int64_t>(begin.size()) - 1; }
  void Add(int64_t i, double w) {
    index.push_back(i);
    weight.push_back(w);
  }
  void EndOutput() { begin.push_back(static_cast<int64_t>(index.size())); }
};

// y[o, i, k] = the weighted sum of x[o, :, k], for x [outer, n, inner] and y [outer, taps.outputs(), inner]. T is float
// or double; sums are kept in double. `pause` is called now and then, and may throw.
template <class T>
void Resample(const T* x, T* y, int64_t outer, int64_t n, int64_t inner, const Taps& taps,
              const std::function<void()>& pause = {});

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
