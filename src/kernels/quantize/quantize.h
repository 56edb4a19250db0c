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

// y = x / scale, the quotient rounded to `precision`: float, float16 or bfloat16. To whole numbers of 16 bits and
// fewer: rounded to nearest, ties to even, plus zero, held within `type`; NaN gives the zero point. To narrow floats:
// plus zero, as Cast rounds it.
void Quantize(const float* x, const float* scales, const double* zeros, TensorType precision, TensorType type,
              bool saturate, void* y, const ScaleGrid& grid);
// y = (x - zero) * scale.
void Dequantize(const double* x, const float* scales, const double* zeros, float* y, const ScaleGrid& grid);
// The same of int8, or uint8 when not `is_signed`; fast where neighbours share a scale.
void DequantizeBytes(const void* x, bool is_signed, const float* scales, const double* zeros, float* y,
                     const ScaleGrid& grid);

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
