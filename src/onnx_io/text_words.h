// SPDX-License-Identifier: Apache-2.0
// The words of the ONNX text syntax that mean something: names of types. Private to its parser and printer.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

// TensorProto::DataType by its name in lower case, and back; "undefined" for a number that has none.
std::optional<int32_t> FindElementType(std::string_view name);
std::string_view ElementTypeName(int32_t number);
// AttributeProto::AttributeType likewise.
std::optional<int32_t> FindAttributeType(std::string_view name);
std::string_view AttributeTypeName(int32_t number);
// Whether a type begins with this word, so that it is no name where a type may stand.
bool IsTypeWord(std::string_view word);

}  // namespace ONNX_LIGHT_NAMESPACE
