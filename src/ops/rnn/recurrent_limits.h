// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

// Hidden sizes above would overflow the sizes of weights, and no weights are that large.
inline constexpr int64_t kMaxHiddenSize = int64_t{1} << 30;

}  // namespace ONNX_LIGHT_NAMESPACE
