// SPDX-License-Identifier: Apache-2.0
// Loops along one axis of a dense array seen as [outer, n, inner]: position of the extreme, running sums.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/elementwise/rows.h"
#include "kernels/reduce/fold_floats.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// Whether `value` is to be taken instead of `best`: a NaN beats every number, and of equal ones the first stays, or,
// with `last`, does not.
template <class T, bool kGreatest, class V>
bool IsTakenAfter(V best, V value, bool last) {
  bool better = kGreatest ? value > best : value < best;
  better |= last & (value == best);
  if constexpr (kIsFloating<T>) {
    const bool best_is_number = best == best, is_nan = value != value;
    better = (best_is_number & (better | is_nan)) | (last & is_nan);
  }
  return better;
}

// The index of the greatest or smallest of a row.
template <class T, bool kGreatest>
int64_t ArgExtremeOfRow(const T* x, int64_t n, bool last) {
  auto best = Load(x[0]);
  int64_t at = 0;
  if constexpr (std::is_same_v<T, float>) {
    constexpr int64_t kShort = 16;
    if (n >= kShort) {
      // What it is is found many at a time, where it is then by one comparison each.
      FoldFloats(kGreatest ? FloatFold::kGreatest : FloatFold::kLeast, x, &best, n, 1);
      if (last) at = n - 1;
      while (x[at] != best && (best == best || x[at] == x[at])) at += last ? -1 : 1;
      return at;
    }
  }
  for (int64_t j = 1; j < n; ++j) {
    const auto value = Load(x[j]);
    if (IsTakenAfter<T, kGreatest>(best, value, last)) {
      best = value;
      at = j;
    }
  }
  return at;
}

// to[o, i] = the index along the axis of the greatest (kGreatest) or smallest x[o, :, i]; the first of equal ones, or
// the last. A NaN beats every number. n >= 1.
template <class T, bool kGreatest>
void ArgExtreme(const T* x, int64_t* to, int64_t outer, int64_t n, int64_t inner, bool last) {
  if (inner == 1) {
    for (int64_t o = 0; o < outer; ++o) to[o] = ArgExtremeOfRow<T, kGreatest>(x + o * n, n, last);
    return;
  }
  using V = std::remove_cvref_t<decltype(Load(*x))>;
  // Some neighbours at once: they lie beside each other at every step. Their places are as wide as they are, so that
  // vectors hold both, as long as they are that few.
  constexpr int64_t kTogether = 64;
  using Place = std::conditional_t<sizeof(V) == 8, int64_t, int32_t>;
  constexpr int64_t kPlaces = std::numeric_limits<Place>::max();
  V best[kTogether];
  Place at[kTogether];
  for (int64_t o = 0; o < outer; ++o, x += n * inner, to += inner) {
    for (int64_t begin = 0; begin < inner; begin += kTogether) {
      const int64_t count = std::min(kTogether, inner - begin);
      for (int64_t i = 0; i < count; ++i) best[i] = Load(x[begin + i]);
      std::fill_n(to + begin, count, 0);
      for (int64_t first = 0; first < n; first += kPlaces) {
        std::fill_n(at, count, Place(-1));
        for (int64_t j = first; j < std::min(n, first + kPlaces); ++j) {
          const T* row = x + j * inner + begin;
          const auto place = static_cast<Place>(j - first);
          for (int64_t i = 0; i < count; ++i) {
            const V value = Load(row[i]);
            const bool taken = IsTakenAfter<T, kGreatest>(best[i], value, last);
            best[i] = taken ? value : best[i];
            at[i] = taken ? place : at[i];
          }
        }
        for (int64_t i = 0; i < count; ++i)
          if (at[i] >= 0) to[begin + i] = first + at[i];
      }
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
