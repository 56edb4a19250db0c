// SPDX-License-Identifier: Apache-2.0
// Loops along one axis of a dense array seen as [outer, n, inner]: position of the extreme, running sums.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/elementwise/rows.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// to[o, i] = the index along the axis of the greatest (kGreatest) or smallest x[o, :, i]; the first of equal ones, or
// the last. A NaN beats every number. n >= 1.
template <class T, bool kGreatest>
void ArgExtreme(const T* x, int64_t* to, int64_t outer, int64_t n, int64_t inner, bool last) {
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      const T* column = x + o * n * inner + i;
      auto best = Load(column[0]);
      int64_t at = 0;
      for (int64_t j = 1; j < n; ++j) {
        const auto value = Load(column[j * inner]);
        bool better = kGreatest ? value > best : value < best;
        if constexpr (kIsFloating<T>) {
          better = best == best && (better || value != value);
          if (last && best != best && value != value) better = true;
        }
        if (better || (last && value == best)) {
          best = value;
          at = j;
        }
      }
      to[o * inner + i] = at;
    }
  }
}

// to[o, j, i] = x[o, k, i] over k <= j (k < j when exclusive; from the end when reversed) put together by `fold`, from
// `first` on; A is the type of what is folded.
template <class T, class A, class Fold>
void RunningFold(const T* x, T* to, int64_t outer, int64_t n, int64_t inner, bool exclusive, bool reverse, A first,
                 Fold fold) {
  // Some neighbours at once: they lie beside each other at every step.
  constexpr int64_t kTogether = 64;
  A folded[kTogether];
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t begin = 0; begin < inner; begin += kTogether) {
      const int64_t count = std::min(kTogether, inner - begin);
      std::fill_n(folded, count, first);
      for (int64_t step = 0; step < n; ++step) {
        const int64_t at = (o * n + (reverse ? n - 1 - step : step)) * inner + begin;
        for (int64_t i = 0; i < count; ++i) {
          const A before = folded[i];
          folded[i] = fold(before, static_cast<A>(Load(x[at + i])));
          to[at + i] = static_cast<T>(exclusive ? before : folded[i]);
        }
      }
    }
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
