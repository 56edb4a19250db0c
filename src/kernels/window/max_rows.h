// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// y[i, c] = the greatest x[outputs[i] + places[k] + c] over k, a NaN if there is one, for c < channels: a pool over
// channels that stand next to each other. At least one place. x and y need no alignment. Thread safe.
void MaxRows(std::span<const int64_t> outputs, std::span<const int64_t> places, int64_t channels, const float* x,
             float* y) noexcept;
void MaxRows(std::span<const int64_t> outputs, std::span<const int64_t> places, int64_t channels, const double* x,
             double* y) noexcept;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
