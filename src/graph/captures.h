// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

// Graphs nested deeper than this in node attributes are refused: every later walk may recurse over them.
inline constexpr int kMaxGraphDepth = 200;

// For each graph in an attribute of a node, at any depth: the outer names it uses, itself or in graphs further in, in
// the order they are met. Computed once for a whole tree, so that deep nesting costs no more than its size. A view:
// names are those of the messages, which must outlive it.
class Captures {
 public:
  // `graph` and all bodies below it. Throws InvalidArgument when they nest deeper than kMaxGraphDepth.
  explicit Captures(const GraphProto& graph) { Walk(graph, 0); }

  // The captures of a graph below (or the one) given to the constructor.
  const std::vector<std::string_view>& Of(const GraphProto& graph) const { return captures_.at(&graph); }

 private:
  void Walk(const GraphProto& graph, int depth);
  std::unordered_map<const GraphProto*, std::vector<std::string_view>> captures_;
};

// Calls fn(attribute, graph) for every body of the node, lists of graphs included.
template <class Fn>
void ForEachBody(const NodeProto& node, Fn fn) {
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) fn(attribute, attribute.g());
    for (const GraphProto& graph : attribute.graphs()) fn(attribute, graph);
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
