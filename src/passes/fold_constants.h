// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "onnxseq/value.h"
#include "passes/graph_edit.h"

namespace ONNX_LIGHT_NAMESPACE {

// What node n, by its operator's own kernel, makes of these inputs (nothing for those left out): where it gives one
// tensor, always the same, that exceeds the inputs by no more than kMaxFoldedGrowth bytes. Whatever fails is left to
// fail in the run.
std::optional<Tensor> FoldNode(const GraphEdit& edit, int n, std::vector<Value> inputs);

}  // namespace ONNX_LIGHT_NAMESPACE
