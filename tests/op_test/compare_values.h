// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {

// "" when `got` is `expected`: same kind, element type, dims, and elements: floating ones within atol + rtol *
// |expected| (for float16 and bfloat16 at least one unit of theirs), NaN only for NaN, infinities themselves; all
// others exactly. Else what differs. With rtol and atol 0: bit by bit but for the sign of NaN.
std::string Difference(const Value& got, const Value& expected, double rtol, double atol);

}  // namespace ONNX_LIGHT_NAMESPACE
