// SPDX-License-Identifier: Apache-2.0
// What the losses share, which are written as nodes of other operators.
#pragma once

#include <optional>
#include <string>

#include "graph/node_attributes.h"
#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

// Attribute 'reduction': "none", "sum" or "mean" (the default); InvalidArgument for any other.
std::string ReadLossReduction(const NodeProto& node);
// " ignore_index: int = 3," when the node has it, to be given on.
std::string IgnoreIndexText(const NodeProto& node);

}  // namespace ONNX_LIGHT_NAMESPACE
