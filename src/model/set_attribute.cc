// SPDX-License-Identifier: Apache-2.0
#include "model/set_attribute.h"

#include <utility>

namespace ONNX_LIGHT_NAMESPACE {
namespace {

AttributeProto& AddAttribute(NodeProto& node, std::string_view name, AttributeProto::AttributeType type) {
  AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(std::string(name));
  attribute.set_type(type);
  return attribute;
}

}  // namespace

void SetInt(NodeProto& node, std::string_view name, int64_t value) {
  AddAttribute(node, name, AttributeProto::INT).set_i(value);
}
void SetFloat(NodeProto& node, std::string_view name, float value) {
  AddAttribute(node, name, AttributeProto::FLOAT).set_f(value);
}
void SetString(NodeProto& node, std::string_view name, std::string value) {
  AddAttribute(node, name, AttributeProto::STRING).set_s(std::move(value));
}
void SetInts(NodeProto& node, std::string_view name, std::span<const int64_t> values) {
  AddAttribute(node, name, AttributeProto::INTS).mutable_ints()->extend(values);
}
void SetFloats(NodeProto& node, std::string_view name, std::span<const float> values) {
  AddAttribute(node, name, AttributeProto::FLOATS).mutable_floats()->extend(values);
}
void SetStrings(NodeProto& node, std::string_view name, std::span<const std::string> values) {
  AttributeProto& attribute = AddAttribute(node, name, AttributeProto::STRINGS);
  for (const std::string& value : values) attribute.add_strings(value);
}
GraphProto& SetGraph(NodeProto& node, std::string_view name) {
  return *AddAttribute(node, name, AttributeProto::GRAPH).mutable_g();
}

}  // namespace ONNX_LIGHT_NAMESPACE
