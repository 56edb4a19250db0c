// SPDX-License-Identifier: Apache-2.0
#include "kernels/resample/resample.h"

#include <algorithm>

namespace ONNX_LIGHT_NAMESPACE::kernels {

namespace {

// to[k] = the sum of weight[t] x[index[t] * step + k] over t < kTaps, for k < n.
template <int kTaps, class T>
void SumRows(const T* x, const int64_t* index, const double* weight, int64_t step, int64_t n, T* to) {
  const T* from[kTaps];
  double factor[kTaps];
  for (int t = 0; t < kTaps; ++t) {
    from[t] = x + index[t] * step;
    factor[t] = weight[t];
  }
  for (int64_t k = 0; k < n; ++k) {
    double sum = 0;
    for (int t = 0; t < kTaps; ++t) sum += factor[t] * static_cast<double>(from[t][k]);
    to[k] = static_cast<T>(sum);
  }
}

}  // namespace

template <class T>
void Resample(const T* x, T* y, int64_t outer, int64_t n, int64_t inner, const Taps& taps,
              const std::function<void()>& pause) {
  const int64_t outputs = taps.outputs();
  // Neighbours along the axis lie beside each other.
  if (inner == 1) {
    for (int64_t o = 0; o < outer; ++o, x += n, y += outputs) {
      if (pause && (outputs >= 1024 || o % 1024 == 0)) pause();
      const int64_t* const begin = taps.begin.data();
      const int64_t* const index = taps.index.data();
      const double* const weight = taps.weight.data();
      for (int64_t i = 0; i < outputs; ++i) {
        double sum = 0;
        int64_t t = begin[i];
        // Most have two.
        if (begin[i + 1] - t == 2) {
          sum += weight[t] * static_cast<double>(x[index[t]]);
          sum += weight[t + 1] * static_cast<double>(x[index[t + 1]]);
        } else {
          for (; t < begin[i + 1]; ++t) sum += weight[t] * static_cast<double>(x[index[t]]);
        }
        y[i] = static_cast<T>(sum);
      }
    }
    return;
  }
  std::vector<double> sums(static_cast<size_t>(inner));
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < outputs; ++i) {
      if (pause && (inner >= 1024 || i % 1024 == 0)) pause();
      const auto first = static_cast<size_t>(taps.begin[static_cast<size_t>(i)]),
                 last = static_cast<size_t>(taps.begin[static_cast<size_t>(i) + 1]);
      T* to = y + (o * outputs + i) * inner;
      const T* const slice = x + o * n * inner;
      if (last - first == 1) {
        SumRows<1>(slice, &taps.index[first], &taps.weight[first], inner, inner, to);
        continue;
      }
      if (last - first == 2) {
        SumRows<2>(slice, &taps.index[first], &taps.weight[first], inner, inner, to);
        continue;
      }
      std::ranges::fill(sums, 0.0);
      for (size_t t = first; t < last; ++t) {
        const T* from = slice + taps.index[t] * inner;
        const double weight = taps.weight[t];
        for (int64_t k = 0; k < inner; ++k) sums[static_cast<size_t>(k)] += weight * static_cast<double>(from[k]);
      }
      for (int64_t k = 0; k < inner; ++k) to[k] = static_cast<T>(sums[static_cast<size_t>(k)]);
    }
  }
}

template void Resample(const float*, float*, int64_t, int64_t, int64_t, const Taps&, const std::function<void()>&);
template void Resample(const double*, double*, int64_t, int64_t, int64_t, const Taps&, const std::function<void()>&);

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
