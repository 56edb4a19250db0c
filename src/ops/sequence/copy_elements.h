// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {

// Copies `count` consecutive elements; both tensors have the same element type, and the ranges lie inside them. `to` is
// writable.
void CopyElements(Tensor& to, int64_t to_first, const Tensor& from, int64_t from_first, int64_t count);

}  // namespace ONNX_LIGHT_NAMESPACE
