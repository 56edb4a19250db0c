// SPDX-License-Identifier: Apache-2.0
// Rows of float16 and bfloat16 to floats and back, as the conversions of onnxseq/float16.h, by the CPU's instructions
// where it has them.
#pragma once

#include <cstdint>

#include "onnxseq/float16.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// to[i] = from[i] for i < n; no alignment needed, no overlap allowed. A signalling NaN may become a quiet one. Thread
// safe.
void FloatsOf(const Float16* from, int64_t n, float* to) noexcept;
void FloatsOf(const BFloat16* from, int64_t n, float* to) noexcept;
// Rounded to nearest, halves to even.
void HalvesOf(const float* from, int64_t n, Float16* to) noexcept;
void HalvesOf(const float* from, int64_t n, BFloat16* to) noexcept;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
