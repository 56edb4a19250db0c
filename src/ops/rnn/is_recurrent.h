// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/domain.h"
#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

// Whether the node is an LSTM, GRU or RNN of ONNX.
inline bool IsRecurrent(const NodeProto& node) {
  return Domain(node.domain()).empty() &&
         (node.op_type() == "LSTM" || node.op_type() == "GRU" || node.op_type() == "RNN");
}

}  // namespace ONNX_LIGHT_NAMESPACE
