// SPDX-License-Identifier: Apache-2.0
// Rows of bytes that stand for floats: (byte - zero) * scale. Vectorised for each instruction set.
#pragma once

#include <cstdint>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

struct ByteScale {
  float scale = 1;
  int32_t zero = 0;
  bool is_signed = false;
};

// Row functions; n elements each, no alignment. To bytes: the quotient by the scale is rounded to nearest, ties to
// even, plus zero, held within the type; NaN gives the zero.
struct ByteRowKernels {
  void (*quantize)(const float* x, int64_t n, const ByteScale& to, void* y);
  void (*dequantize)(const void* x, int64_t n, const ByteScale& from, float* y);
  // y = (sums + added) * factors, rounded and held as above: factors are in steps of the result, whose scale does not
  // count. `added` may be null; one factor for all with factor_step 0, else n.
  void (*requantize)(const int32_t* sums, const int32_t* added, const float* factors, int64_t factor_step, int64_t n,
                     const ByteScale& to, void* y);
  // y = a + b and a * b; a step of 0 repeats the first element.
  void (*add)(const void* a, int64_t a_step, const ByteScale& of_a, const void* b, int64_t b_step,
              const ByteScale& of_b, int64_t n, const ByteScale& to, void* y);
  void (*multiply)(const void* a, int64_t a_step, const ByteScale& of_a, const void* b, int64_t b_step,
                   const ByteScale& of_b, int64_t n, const ByteScale& to, void* y);
  // sums -= x * factor, wrapping; a step of 0 repeats the first element.
  void (*subtract_multiple)(const int32_t* x, int64_t x_step, int32_t factor, int64_t n, int32_t* sums);
};

// Of the active instruction set. Thread safe.
const ByteRowKernels& ActiveByteRowKernels() noexcept;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
