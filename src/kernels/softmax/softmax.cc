// SPDX-License-Identifier: Apache-2.0
#include "kernels/softmax/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// Columns taken together, so that memory is read along rows; their running values stay in L1.
constexpr int64_t kColumns = 64;

// `width` neighbouring columns, rows `stride` apart.
template <class T>
void Columns(const T* x, T* y, int64_t n, int64_t stride, int64_t width, bool log) {
  T max[kColumns], sum[kColumns];
  std::fill_n(max, width, -std::numeric_limits<T>::infinity());
  std::fill_n(sum, width, T(0));
  for (int64_t j = 0; j < n; ++j) {
    const T* row = x + j * stride;
    for (int64_t c = 0; c < width; ++c) max[c] = row[c] > max[c] ? row[c] : max[c];
  }
  for (int64_t j = 0; j < n; ++j) {
    const T* row = x + j * stride;
    T* to = y + j * stride;
    for (int64_t c = 0; c < width; ++c) {
      const T shifted = row[c] - max[c];
      const T e = std::exp(shifted);
      sum[c] += e;
      to[c] = log ? shifted : e;
    }
  }
  for (int64_t c = 0; c < width; ++c) sum[c] = log ? std::log(sum[c]) : T(1) / sum[c];
  for (int64_t j = 0; j < n; ++j) {
    T* to = y + j * stride;
    for (int64_t c = 0; c < width; ++c) to[c] = log ? to[c] - sum[c] : to[c] * sum[c];
  }
}

// One row of neighbours: as many running values as a vector holds several times over.
constexpr int64_t kLanes = 16;

template <class T>
void Row(const T* x, T* y, int64_t n, bool log) {
  T lanes[kLanes];
  std::fill_n(lanes, kLanes, -std::numeric_limits<T>::infinity());
  const int64_t whole = n - n % kLanes;
  for (int64_t i = 0; i < whole; i += kLanes)
    for (int64_t k = 0; k < kLanes; ++k) lanes[k] = x[i + k] > lanes[k] ? x[i + k] : lanes[k];
  T max = -std::numeric_limits<T>::infinity();
  for (const T lane : lanes) max = lane > max ? lane : max;
  for (int64_t i = whole; i < n; ++i) max = x[i] > max ? x[i] : max;
  std::fill_n(lanes, kLanes, T(0));
  for (int64_t i = 0; i < n; ++i) {
    const T shifted = x[i] - max;
    const T e = std::exp(shifted);
    lanes[i % kLanes] += e;
    y[i] = log ? shifted : e;
  }
  for (int64_t width = kLanes / 2; width > 0; width /= 2)
    for (int64_t k = 0; k < width; ++k) lanes[k] += lanes[k + width];
  if (log) {
    const T log_sum = std::log(lanes[0]);
    for (int64_t i = 0; i < n; ++i) y[i] -= log_sum;
  } else {
    const T scale = T(1) / lanes[0];
    for (int64_t i = 0; i < n; ++i) y[i] *= scale;
  }
}

}  // namespace

template <class T>
void Softmax(const T* x, T* y, int64_t outer, int64_t n, int64_t inner, bool log) {
  for (int64_t o = 0; o < outer; ++o) {
    if (inner == 1) {
      Row(x + o * n, y + o * n, n, log);
      continue;
    }
    for (int64_t c = 0; c < inner; c += kColumns) {
      const int64_t at = o * n * inner + c;
      Columns(x + at, y + at, n, inner, std::min(kColumns, inner - c), log);
    }
  }
}

template void Softmax(const float*, float*, int64_t, int64_t, int64_t, bool);
template void Softmax(const double*, double*, int64_t, int64_t, int64_t, bool);

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
