// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "ops/infer_graph.h"

namespace ONNX_LIGHT_NAMESPACE {

namespace {

// Bodies nested deeper are not looked into: the walk refuses them.
constexpr int kMaxDepth = 64;

// Adds the outer names a body uses: what it and the bodies inside read or hand out, less what each defines itself.
void CollectNames(const GraphProto& graph, int depth, std::vector<std::string_view>& names) {
  if (depth > kMaxDepth) return;
  std::vector<std::string_view> used;
  std::unordered_set<std::string_view> own;
  for (const ValueInfoProto& input : graph.input()) own.insert(input.name());
  for (const TensorProto& tensor : graph.initializer()) own.insert(tensor.name());
  for (const SparseTensorProto& tensor : graph.sparse_initializer()) own.insert(tensor.values().name());
  for (const ValueInfoProto& output : graph.output()) used.push_back(output.name());
  for (const NodeProto& node : graph.node()) {
    used.insert(used.end(), node.input().begin(), node.input().end());
    own.insert(node.output().begin(), node.output().end());
    for (const AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) CollectNames(attribute.g(), depth + 1, used);
      for (const GraphProto& inner : attribute.graphs()) CollectNames(inner, depth + 1, used);
    }
  }
  for (const std::string_view name : used) {
    if (!own.contains(name)) names.push_back(name);
  }
}

std::vector<std::string_view> NamesUsed(const NodeProto& node) {
  std::vector<std::string_view> names(node.input().begin(), node.input().end());
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) CollectNames(attribute.g(), 0, names);
    for (const GraphProto& graph : attribute.graphs()) CollectNames(graph, 0, names);
  }
  return names;
}

}  // namespace

NodeOrder OrderNodes(const GraphProto& graph) {
  const size_t count = graph.node().size();
  NodeOrder result;
  result.order.reserve(count);
  std::unordered_map<std::string_view, size_t> producer;
  std::set<std::string_view> outside;
  for (const ValueInfoProto& input : graph.input()) outside.insert(input.name());
  for (const TensorProto& tensor : graph.initializer()) outside.insert(tensor.name());
  producer.reserve(count * 2);
  for (size_t i = 0; i < count; ++i) {
    const auto& outputs = graph.node(i).output();
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (outputs[k].empty()) continue;
      if (outside.contains(outputs[k]) || !producer.emplace(outputs[k], i).second) result.repeated.emplace_back(i, k);
    }
  }
  std::vector<std::vector<size_t>> users(count);
  std::vector<size_t> waits_for(count, 0);
  bool sorted = true;
  for (size_t i = 0; i < count; ++i) {
    for (const std::string_view name : NamesUsed(graph.node(i))) {
      const auto it = name.empty() ? producer.end() : producer.find(name);
      if (it == producer.end()) continue;
      if (it->second >= i) sorted = false;
      users[it->second].push_back(i);
      ++waits_for[i];
    }
  }
  if (sorted) {
    for (size_t i = 0; i < count; ++i) result.order.push_back(i);
    return result;
  }
  std::set<size_t> ready;  // the first node that can go comes first: as near to the file's order as may be
  for (size_t i = 0; i < count; ++i) {
    if (waits_for[i] == 0) ready.insert(i);
  }
  while (!ready.empty()) {
    const size_t i = *ready.begin();
    ready.erase(ready.begin());
    result.order.push_back(i);
    for (const size_t user : users[i]) {
      if (--waits_for[user] == 0) ready.insert(user);
    }
  }
  for (size_t i = 0; i < count && result.order.size() < count; ++i) {
    if (waits_for[i] == 0) continue;
    if (result.in_cycle < 0) result.in_cycle = static_cast<int64_t>(i);
    result.order.push_back(i);
  }
  return result;
}

}  // namespace ONNX_LIGHT_NAMESPACE
