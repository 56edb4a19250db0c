// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {

// Empty when both are the same up to the rounding of sums: element types, dims, whole numbers, and floats within
// 1e-5 * max(1, the largest of what is wanted); else where they part.
std::string Difference(const Value& got, const Value& wanted);

}  // namespace ONNX_LIGHT_NAMESPACE
