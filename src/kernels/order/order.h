// SPDX-License-Identifier: Apache-2.0
// order: comparisons of elements of any type, and the greatest elements along an axis. NaN is greater than every
// number, and equal to NaN: orders are total.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/stop_token.h"
#include "onnx_optim/tensor_type.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// The first difference of a[0..n) and b[0..n): below 0 when a is less there, above 0 when greater, 0 without one.
// Strings by their bytes, complex numbers by real, then imaginary part.
using CompareFn = int (*)(const void* a, const void* b, int64_t n);
// Null for types without a C++ type of their own.
CompareFn CompareFnFor(TensorType type);

// Sorts `items` by the strict order `before`. Looks at the run's stop token (base/stop_token.h) all the while and
// returns early, items unsorted, once it is stopped.
template <class Item, class Before>
void SortUnlessStopped(std::span<Item> items, const Before& before) {
  constexpr size_t kRun = 1 << 14;  // a millisecond or two of sorting
  const size_t n = items.size();
  for (size_t first = 0; first < n && !StopRequested(); first += kRun)
    std::sort(items.begin() + static_cast<ptrdiff_t>(first),
              items.begin() + static_cast<ptrdiff_t>(std::min(n, first + kRun)), before);
  std::vector<Item> merged(n > kRun ? n : 0);
  for (size_t run = kRun; run < n; run *= 2) {
    for (size_t first = 0; first < n; first += 2 * run) {
      const size_t middle = std::min(n, first + run), end = std::min(n, first + 2 * run);
      for (size_t a = first, b = middle, to = first; to < end; ++to) {
        if (to % kRun == 0 && StopRequested()) return;
        merged[to] = items[a < middle && (b == end || !before(items[b], items[a])) ? a++ : b++];
      }
    }
    std::ranges::copy(merged, items.begin());
  }
}

// For every column of x[outer, n, inner] (numbers): the k <= n greatest (or least) elements, best first, equal ones in
// the order they are in, and where they are: both [outer, k, inner]. Returns early, unfinished, once the run is to end.
void TopK(TensorType type, const void* x, void* values, int64_t* indices, int64_t outer, int64_t n, int64_t inner,
          int64_t k, bool greatest);

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
