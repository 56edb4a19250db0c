// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// to[4 i + j] = from[j][i] ^ flip for i < n, j < 4. No alignment.
inline void InterleaveFour(const uint8_t* const* from, int64_t n, uint8_t flip, uint8_t* to) {
  using Sixteen = uint8_t __attribute__((vector_size(16)));
  const Sixteen flips = flip - Sixteen{};
  const auto load = [&](int64_t j, int64_t i) {
    Sixteen bytes;
    std::memcpy(&bytes, from[j] + i, sizeof(bytes));
    return bytes ^ flips;
  };
  const auto low = [](Sixteen a, Sixteen b) {
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  };
  const auto high = [](Sixteen a, Sixteen b) {
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  };
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const Sixteen a = load(0, i), b = load(1, i), c = load(2, i), d = load(3, i);
    // Bytes of a between those of c, of b between those of d, then those two.
    const Sixteen ac_low = low(a, c), ac_high = high(a, c), bd_low = low(b, d), bd_high = high(b, d);
    const Sixteen quads[4] = {low(ac_low, bd_low), high(ac_low, bd_low), low(ac_high, bd_high), high(ac_high, bd_high)};
    std::memcpy(to + 4 * i, quads, sizeof(quads));
  }
  for (; i < n; ++i)
    for (int64_t j = 0; j < 4; ++j) to[4 * i + j] = static_cast<uint8_t>(from[j][i] ^ flip);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
