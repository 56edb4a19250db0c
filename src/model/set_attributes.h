// SPDX-License-Identifier: Apache-2.0
// Attributes for nodes that are made here. Each adds one; the node must not have it yet.
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

}  // namespace ONNX_LIGHT_NAMESPACE
