// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "passes/graph_edit.h"

namespace ONNX_LIGHT_NAMESPACE {

// A node for the attribute `steps` of which a graph holds copies of those of `group`, in order, with these inputs,
// absent ones left out, and outputs. It has the names of all as its own, and neither inputs nor outputs yet.
NodeProto NodeOfSteps(const GraphEdit& edit, const std::vector<int>& group, std::string_view type,
                      const std::vector<int>& inputs, const std::vector<int>& outputs);

// One node of kInternalDomain in place of those of `group`, in order, of whose results only the last one's is used by
// others. It has these inputs (GraphEdit::kAbsent for none), the names of all as its own, and the nodes in graph
// attribute `steps`, whose inputs are the same, absent ones left out.
NodeProto& FuseNodes(GraphEdit& edit, const std::vector<int>& group, std::string_view type,
                     const std::vector<int>& inputs);

}  // namespace ONNX_LIGHT_NAMESPACE
