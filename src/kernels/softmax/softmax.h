// SPDX-License-Identifier: Apache-2.0
// softmax: exp(x - max) over the sum of the same, or its logarithm, along rows or columns of a matrix.
#pragma once

#include <cstdint>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// T: float or double, vectorised. x and y need no alignment and may be the same. Sums in T; of n numbers each result is
// within n + 8 + (max - x) units of rounding of the true value (a logarithm: of 1 plus its size), and 0 where that is
// below the least normal number. A NaN, an infinite greatest number, and nothing but -infinity give NaNs throughout. A
// row's (or column's) result depends on nothing else. Thread safe.

// Each row of dense [rows, n].
template <class T>
void SoftmaxRows(const T* x, T* y, int64_t rows, int64_t n, bool log) noexcept;
// Each column of [n, columns]; rows are `stride` apart in both.
template <class T>
void SoftmaxColumns(const T* x, T* y, int64_t n, int64_t columns, int64_t stride, bool log) noexcept;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
