// SPDX-License-Identifier: Apache-2.0
// Loops along one axis of a dense array seen as [outer, n, inner]: position of the extreme, running sums.
#pragma once

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
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      A folded = first;
      for (int64_t step = 0; step < n; ++step) {
        const int64_t at = (o * n + (reverse ? n - 1 - step : step)) * inner + i;
        const auto value = static_cast<A>(Load(x[at]));
        if (exclusive) to[at] = static_cast<T>(folded);
        folded = fold(folded, value);
        if (!exclusive) to[at] = static_cast<T>(folded);
      }
    }
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
