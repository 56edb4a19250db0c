// SPDX-License-Identifier: Apache-2.0
// The folds of floats that reductions are mostly made of, in vectors.
#pragma once

#include <cstdint>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// What is done with each x. The first three add to a double, the others keep a float, where a NaN beats every number.
enum class FloatFold : uint8_t { kSum, kSumOfMagnitudes, kSumOfSquares, kGreatest, kLeast };

// Folds the first x into *acc, as many as fill whole vectors, and returns how many those are, at most n. `acc` is a
// double or a float as the fold has it. No alignment is needed. Thread safe.
int64_t FoldFloats(FloatFold fold, const float* x, void* acc, int64_t n) noexcept;
// The same of x[i] into acc[i] each.
int64_t FoldFloatsEach(FloatFold fold, const float* x, void* acc, int64_t n) noexcept;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
