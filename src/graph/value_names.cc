// SPDX-License-Identifier: Apache-2.0
#include "graph/value_names.h"

#include "graph/captures.h"

namespace ONNX_LIGHT_NAMESPACE {

void AddValueNames(const GraphProto& graph, std::unordered_set<std::string>& names) {
  for (const ValueInfoProto& input : graph.input()) names.insert(input.name());
  for (const TensorProto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const SparseTensorProto& tensor : graph.sparse_initializer()) names.insert(tensor.values().name());
  for (const NodeProto& node : graph.node()) {
    for (const String& name : node.input()) names.insert(name);
    for (const String& name : node.output()) names.insert(name);
    ForEachBody(node, [&](const AttributeProto&, const GraphProto& body) { AddValueNames(body, names); });
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
