// SPDX-License-Identifier: Apache-2.0
// Graphs for tests, in a few words.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

inline NodeProto& AddNode(GraphProto& graph, const char* op, const char* name,
                          std::initializer_list<const char*> inputs, std::initializer_list<const char*> outputs) {
  NodeProto& node = *graph.add_node();
  node.set_op_type(op);
  if (*name != '\0') node.set_name(name);
  for (const char* input : inputs) node.add_input(input);
  for (const char* output : outputs) node.add_output(output);
  return node;
}
inline void AddBody(NodeProto& node, const char* attribute_name, GraphProto body) {
  AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(attribute_name);
  attribute.set_type(AttributeProto::GRAPH);
  *attribute.mutable_g() = std::move(body);
}
inline GraphProto Ends(std::initializer_list<const char*> inputs, std::initializer_list<const char*> outputs) {
  GraphProto graph;
  for (const char* input : inputs) graph.add_input()->set_name(input);
  for (const char* output : outputs) graph.add_output()->set_name(output);
  return graph;
}

}  // namespace ONNX_LIGHT_NAMESPACE
