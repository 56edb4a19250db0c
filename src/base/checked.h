// SPDX-License-Identifier: Apache-2.0
// Arithmetic on sizes that come from files: overflow is an answer, never undefined.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

[[nodiscard]] inline std::optional<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_add_overflow(a, b, &r)) return std::nullopt;
  return r;
}
[[nodiscard]] inline std::optional<int64_t> CheckedMul(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) return std::nullopt;
  return r;
}
// The product of dims, 1 when there are none; nothing when a dim is negative or the product overflows (a zero anywhere
// gives 0, but dims that overflow before meeting it are refused all the same: their strides could not be said).
[[nodiscard]] inline std::optional<int64_t> CheckedProduct(std::span<const int64_t> dims) {
  int64_t product = 1, without_zeros = 1;
  for (const int64_t d : dims) {
    if (d < 0) return std::nullopt;
    if (d == 0) {
      product = 0;
      continue;
    }
    if (__builtin_mul_overflow(without_zeros, d, &without_zeros)) return std::nullopt;
  }
  return product == 0 ? 0 : without_zeros;
}

}  // namespace ONNX_LIGHT_NAMESPACE
