// SPDX-License-Identifier: Apache-2.0
// The folds of floats that reductions are mostly made of, in vectors.
#pragma once

#include <cstdint>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// What is done with each x. The first three add to a double, the others keep a float, where a NaN beats every number.
enum class FloatFold : uint8_t { kSum, kSumOfMagnitudes, kSumOfSquares, kGreatest, kLeast };

// Folds each of `rows` rows of n neighbours, x[r * n .. r * n + n), into acc[r]. `acc` are doubles or floats as the
// fold has it. What becomes of a row depends on it and n alone. No alignment is needed. Thread safe.
void FoldFloats(FloatFold fold, const float* x, void* acc, int64_t n, int64_t rows) noexcept;
// The same of x[r * n + i] into acc[i] each, for one r after the other.
void FoldFloatsEach(FloatFold fold, const float* x, void* acc, int64_t n, int64_t rows) noexcept;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
