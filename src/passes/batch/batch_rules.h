// SPDX-License-Identifier: Apache-2.0
// How operators work on all elements at once: one rule per family, and which operator goes by which.
#pragma once

#include <string_view>

#include "passes/batch/batch_graph.h"

namespace ONNX_LIGHT_NAMESPACE {

// Emits what the node gives for all elements under the names of its outputs; false, by BatchNode::Fail, when it cannot
// be said. The outputs' forms are those of their inferred shapes, and a packed one's lengths are known.
struct BatchRule {
  std::string_view name;
  bool (*apply)(BatchNode&) = nullptr;
};

// The operator's rule; one without name when it has none.
BatchRule FindBatchRule(const OpDef& op);

// batch_elementwise.cc: each element of the output sees the ones at its place, broadcast.
bool BatchElementwise(BatchNode& node);
// batch_axis.cc: an axis, or some, in an attribute or a constant input; the rest is untouched.
bool BatchReduce(BatchNode& node);
bool BatchSoftmax(BatchNode& node);
bool BatchAxisAttribute(BatchNode& node);
bool BatchNormalizedAxes(BatchNode& node);
bool BatchCumulative(BatchNode& node);
bool BatchGather(BatchNode& node);
bool BatchConcat(BatchNode& node);
bool BatchSplit(BatchNode& node);
bool BatchSlice(BatchNode& node);
bool BatchPad(BatchNode& node);
// batch_shape.cc: elements keep their order.
bool BatchReshape(BatchNode& node);
bool BatchTranspose(BatchNode& node);
bool BatchExpand(BatchNode& node);
bool BatchTile(BatchNode& node);
// batch_product.cc
bool BatchMatMul(BatchNode& node);
bool BatchGemm(BatchNode& node);
// The first axis of input 0 is one of rows or images that do not know each other, and so is that of the output.
bool BatchFirstAxis(BatchNode& node);
// batch_recurrent.cc
bool BatchRecurrent(BatchNode& node);

}  // namespace ONNX_LIGHT_NAMESPACE
