// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_set>

#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

// Adds the names of all values in the graph and the bodies below it.
void AddValueNames(const GraphProto& graph, std::unordered_set<std::string>& names);

}  // namespace ONNX_LIGHT_NAMESPACE
