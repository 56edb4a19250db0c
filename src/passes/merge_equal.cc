// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <unordered_map>

#include "passes/passes.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Nodes that hold more are not worth reading.
constexpr size_t kMaxTensorBytes = 4096;

// The same for nodes that give the same; "" for a node to leave alone.
std::string Key(const GraphEdit& edit, int n) {
  const NodeProto& node = edit.node(n);
  std::string key = fmt::format("{}\n{}", edit.op(n)->domain, edit.op(n)->type);
  for (const int v : edit.inputs(n)) fmt::format_to(std::back_inserter(key), ",{}", v);
  for (const int v : edit.outputs(n)) key += v == GraphEdit::kAbsent ? '-' : '+';
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g() || !attribute.graphs().empty() || !attribute.tensors().empty()) return {};
    if (attribute.has_t() && attribute.t().raw_data().size() > kMaxTensorBytes) return {};
    key += '\n';
    key += attribute.SerializeAsString();
  }
  return key;
}

}  // namespace

int64_t MergeEqual(GraphEdit& edit) {
  int64_t merged = 0;
  std::unordered_map<std::string, int> first;
  for (int n = 0; n < edit.node_size(); ++n) {
    if (!edit.alive(n) || edit.op(n) == nullptr || edit.op(n)->random || edit.inputs(n).empty()) continue;
    const std::string key = Key(edit, n);
    if (key.empty()) continue;
    const auto [it, is_new] = first.emplace(key, n);
    if (is_new) continue;
    const std::vector<int> mine = edit.outputs(n), others = edit.outputs(it->second);
    bool all = true;
    for (size_t i = 0; i < mine.size(); ++i)
      if (mine[i] != GraphEdit::kAbsent) all = edit.Replace(mine[i], others[i]) && all;
    if (!all) continue;  // what could be replaced was
    edit.Remove(n);
    ++merged;
  }
  return merged;
}

}  // namespace ONNX_LIGHT_NAMESPACE
