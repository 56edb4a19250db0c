// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// Vectors of columns in one panel of a packed matrix. Four, because an LSTM's hidden unit has four gates, each in its
// own vector.
inline constexpr int kPanelVectors = 4;

// The value packed weights hold: denormals cost a hundred cycles each and say nothing, so they may be flushed to zero
// once.
template <class T>
T FlushDenormal(T value) noexcept {
  return std::abs(value) < std::numeric_limits<T>::min() ? T(0) : value;
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
