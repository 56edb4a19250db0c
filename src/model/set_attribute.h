// SPDX-License-Identifier: Apache-2.0
// Adds an attribute to a node that has none of that name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

void SetInt(NodeProto& node, std::string_view name, int64_t value);
void SetFloat(NodeProto& node, std::string_view name, float value);
void SetString(NodeProto& node, std::string_view name, std::string value);
void SetInts(NodeProto& node, std::string_view name, std::span<const int64_t> values);
void SetFloats(NodeProto& node, std::string_view name, std::span<const float> values);
void SetStrings(NodeProto& node, std::string_view name, std::span<const std::string> values);
// Returns the empty graph.
GraphProto& SetGraph(NodeProto& node, std::string_view name);

}  // namespace ONNX_LIGHT_NAMESPACE
