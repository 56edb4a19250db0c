// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {

// Tensors behind each other along an axis; along a new first one when it is -1.
Tensor Joined(std::span<const Tensor> elements, int axis);

// The one axis in which elements differ, -1 for none; nothing when there are more, or other ranks.
std::optional<int> DifferingAxis(const Sequence& sequence);

}  // namespace ONNX_LIGHT_NAMESPACE
