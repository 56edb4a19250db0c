// SPDX-License-Identifier: Apache-2.0
// softmax: exp(x - max) / sum of the same, or its logarithm, along the middle axis of [outer, n, inner].
#pragma once

#include <cstdint>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// x and y are dense [outer, n, inner] and may be the same. Accumulates in T.
template <class T>
void Softmax(const T* x, T* y, int64_t outer, int64_t n, int64_t inner, bool log);

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
