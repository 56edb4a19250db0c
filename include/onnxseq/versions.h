// SPDX-License-Identifier: Apache-2.0
// Which versions of the format this build reads.
#pragma once

#include <cstdint>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

// The newest ONNX IR version and ai.onnx operator set that are read.
inline constexpr int64_t kMaxIrVersion = 14;
inline constexpr int64_t kMaxOpset = 28;

}  // namespace ONNX_LIGHT_NAMESPACE
