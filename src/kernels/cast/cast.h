// SPDX-License-Identifier: Apache-2.0
// cast: elements of one type to another, in two steps: through double for floating types, int64 for signed integers and
// bool, uint64 for uint64, so that n types need 4n loops and not n*n.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/cast/narrow_float.h"
#include "onnx_optim/tensor_type.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// Numbers and bool, to numbers and bool. Floating to integer truncates towards zero, saturates, and takes NaN to 0;
// integer to integer keeps the low bits, as does anything to an integer of 4 or 2 bits; to bool: not zero. No string or
// complex type.
void Cast(const void* from, TensorType from_type, void* to, TensorType to_type, int64_t n, const CastRules& rules = {});
// Numbers and bool to text: shortest decimal that reads back as the same number; "NaN", "INF", "-INF"; bool as "1" and
// "0".
void CastToString(const void* from, TensorType from_type, std::string* to, int64_t n);
// Text to numbers and bool, surrounding spaces ignored; inf and nan in any case; an integer type takes "100.5" as 100
// and saturates. Returns the index of the first element that is no number, or n.
[[nodiscard]] int64_t CastFromString(const std::string* from, void* to, TensorType to_type, int64_t n,
                                     const CastRules& rules = {});

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
