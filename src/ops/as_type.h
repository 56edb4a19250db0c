// SPDX-License-Identifier: Apache-2.0
// Tensors of numbers as another element type.
#pragma once

#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {

// The same numbers as `type`, as Cast would give them; the tensor itself when it has that type.
Tensor AsType(const Tensor& t, TensorType type);
// As float when its elements are floats without a C++ type of their own.
Tensor WithOwnType(const Tensor& t);
// As float when it is of halves: what those are computed in.
Tensor Widened(const Tensor& t);

}  // namespace ONNX_LIGHT_NAMESPACE
