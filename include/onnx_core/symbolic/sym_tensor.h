// SPDX-License-Identifier: Apache-2.0
// core::symbolic::SymDim, SymShape, SymTensor, TensorType.
#pragma once

#include "onnx_core/compat.h"  // IWYU pragma: export
