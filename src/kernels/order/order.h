// SPDX-License-Identifier: Apache-2.0
// order: comparisons of elements of any type, and the greatest elements along an axis. NaN is greater than every
// number, and equal to NaN: orders are total.
#pragma once

#include <cstdint>

#include "onnx_optim/tensor_type.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// The first difference of a[0..n) and b[0..n): below 0 when a is less there, above 0 when greater, 0 without one.
// Strings by their bytes, complex numbers by real, then imaginary part.
using CompareFn = int (*)(const void* a, const void* b, int64_t n);
// Null for types without a C++ type of their own.
CompareFn CompareFnFor(TensorType type);

// For every column of x[outer, n, inner] (numbers): the k <= n greatest (or least) elements, best first, equal ones in
// the order they are in, and where they are: both [outer, k, inner].
void TopK(TensorType type, const void* x, void* values, int64_t* indices, int64_t outer, int64_t n, int64_t inner,
          int64_t k, bool greatest);

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
