// SPDX-License-Identifier: Apache-2.0
// The loops of normalisation over rows of floats, in vectors.
#pragma once

#include <cstdint>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// The sum of (x[i] - center)^2 over i < n, in double. No alignment is needed. Thread safe.
double SumOfSquaredDeviations(const float* x, int64_t n, double center) noexcept;

// y[i] = (x[i] - center) * factor * scale[i] + shift[i] for i < n, each step rounded; shift may be null. y may be x. No
// alignment is needed. Thread safe.
void NormalizeAndScale(const float* x, float* y, int64_t n, float center, float factor, const float* scale,
                       const float* shift) noexcept;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
