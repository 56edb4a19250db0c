// SPDX-License-Identifier: Apache-2.0
#include "kernels/resample/resample.h"

#include <algorithm>

namespace ONNX_LIGHT_NAMESPACE::kernels {

template <class T>
void Resample(const T* x, T* y, int64_t outer, int64_t n, int64_t inner, const Taps& taps,
              const std::function<void()>& pause) {
  const int64_t outputs = taps.outputs();
  // Neighbours along the axis lie beside each other.
  if (inner == 1) {
    for (int64_t o = 0; o < outer; ++o, x += n, y += outputs) {
      if (pause && (outputs >= 1024 || o % 1024 == 0)) pause();
      for (int64_t i = 0; i < outputs; ++i) {
        double sum = 0;
        for (auto t = static_cast<size_t>(taps.begin[static_cast<size_t>(i)]),
                  last = static_cast<size_t>(taps.begin[static_cast<size_t>(i) + 1]);
             t < last; ++t)
          sum += taps.weight[t] * static_cast<double>(x[taps.index[t]]);
        y[i] = static_cast<T>(sum);
      }
    }
    return;
  }
  std::vector<double> sums(static_cast<size_t>(inner));
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < outputs; ++i) {
      if (pause && (inner >= 1024 || i % 1024 == 0)) pause();
      std::ranges::fill(sums, 0.0);
      const auto first = static_cast<size_t>(taps.begin[static_cast<size_t>(i)]),
                 last = static_cast<size_t>(taps.begin[static_cast<size_t>(i) + 1]);
      for (size_t t = first; t < last; ++t) {
        const T* from = x + (o * n + taps.index[t]) * inner;
        const double weight = taps.weight[t];
        for (int64_t k = 0; k < inner; ++k) sums[static_cast<size_t>(k)] += weight * static_cast<double>(from[k]);
      }
      T* to = y + (o * outputs + i) * inner;
      for (int64_t k = 0; k < inner; ++k) to[k] = static_cast<T>(sums[static_cast<size_t>(k)]);
    }
  }
}

template void Resample(const float*, float*, int64_t, int64_t, int64_t, const Taps&, const std::function<void()>&);
template void Resample(const double*, double*, int64_t, int64_t, int64_t, const Taps&, const std::function<void()>&);

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
