// SPDX-License-Identifier: Apache-2.0
// What EmbedLayerNormalization and QEmbedLayerNormalization share.
#pragma once

#include "ops/microsoft/microsoft_op.h"

namespace ONNX_LIGHT_NAMESPACE {

// Where the node has its optional inputs; -1 for one the operator does not take.
struct EmbedInputs {
  int segment_ids, mask, position_ids;
};
// The nodes that make `output`, `mask_index` and `sum` of input_ids, segment_ids, mask, position_ids, floats gamma and
// beta, and the tables word, position and segment; those are quantised, each with its scale and zero point, or floats.
std::string EmbedText(const NodeProto& node, int64_t opset, const EmbedInputs& inputs, bool quantised);

}  // namespace ONNX_LIGHT_NAMESPACE
