// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "onnxseq/value.h"
#include "passes/graph_edit.h"

namespace ONNX_LIGHT_NAMESPACE {

// What the constant `v` holds, of this type and at most kMaxFoldedRead bytes; undefined for any other value.
Tensor ReadConstant(const GraphEdit& edit, int v, TensorType type);

}  // namespace ONNX_LIGHT_NAMESPACE
