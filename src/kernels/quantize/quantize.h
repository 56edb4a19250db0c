// SPDX-License-Identifier: Apache-2.0
// quantize: floats to integers and back by scales and zero points.
#pragma once

#include <cstdint>

#include "onnx_optim/tensor_type.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// Which scale an element of an array [outer, n, inner] has: number o * outer_step + k / block * step + i * inner_step.
// All steps 0: one for all; step 1 alone: one for each k.
struct ScaleGrid {
  int64_t outer = 1, n = 1, inner = 1;
  int64_t outer_step = 0, step = 0, inner_step = 0;
  int64_t block = 1;
};

// y = x / scale rounded to nearest, ties to even, plus zero, held within `type`: int8, uint8, int16 or uint16. The
// quotient is rounded to `precision` first: float, float16 or bfloat16. NaN gives the zero point.
void Quantize(const float* x, const float* scales, const int32_t* zeros, TensorType precision, TensorType type, void* y,
              const ScaleGrid& grid);
// y = (x - zero) * scale.
void Dequantize(const int32_t* x, const float* scales, const int32_t* zeros, float* y, const ScaleGrid& grid);

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
