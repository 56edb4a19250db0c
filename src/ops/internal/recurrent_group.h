// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

// What running recurrent nodes together must gain over one after the other: the model of costs does not know all.
inline constexpr double kLeastGroupGain = 1.15;

}  // namespace ONNX_LIGHT_NAMESPACE
