// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

// How the weights W and R of recurrent operators of type float are kept for the kernels. What is computed is float
// either way: a run that reads its weights from memory once per step is as fast as they are small.
enum class WeightStorage : uint8_t {
  kFull,  // as they are
  kBf16,  // rounded to bfloat16: 3 digits
  kInt8,  // integers in [-127, 127] times a scale of each hidden unit's gate, its largest weight / 127
};

}  // namespace ONNX_LIGHT_NAMESPACE
