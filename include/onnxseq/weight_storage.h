// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

// How the weights W and R of recurrent operators of type float are kept for the kernels: a run that reads them from
// memory once per step is as fast as they are small. kInt8 also rounds what they are multiplied by (docs/recurrent.md).
enum class WeightStorage : uint8_t {
  kFull,  // as they are
  kBf16,  // rounded to bfloat16: 3 digits
  kInt8,  // integers in [-127, 127] times a scale of each hidden unit's gate, its largest weight / 127
};

}  // namespace ONNX_LIGHT_NAMESPACE
