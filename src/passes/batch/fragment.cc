// SPDX-License-Identifier: Apache-2.0
#include "passes/batch/fragment.h"

#include <algorithm>
#include <set>

#include "graph/value_names.h"
#include "ops/infer_graph.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::unordered_set<std::string> NamesIn(const GraphProto& graph) {
  std::unordered_set<std::string> names;
  AddValueNames(graph, names);
  return names;
}

}  // namespace

Fragment::Fragment(GraphEdit& edit, GraphProto graph)
    : edit_(edit), graph_(std::move(graph)), made_(graph_, NamesIn(graph_)) {
  graph_.clear_input();
  graph_.clear_output();
}

std::string Fragment::Of(int v) {
  std::string name = made_.NewName("outer");
  Bind(name, v);
  return name;
}

void Fragment::Prune(std::span<const std::string> wanted) {
  const std::vector<size_t> order = OrderNodes(graph_).order;
  std::set<std::string> needed(wanted.begin(), wanted.end());
  std::vector<size_t> kept, gone;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const NodeProto& node = graph_.node()[*it];
    const bool keep = std::ranges::any_of(node.output(), [&](const String& name) { return needed.contains(name); });
    (keep ? kept : gone).push_back(*it);
    if (keep) needed.insert(node.input().begin(), node.input().end());
  }
  std::ranges::reverse(kept);
  kept.insert(kept.end(), gone.begin(), gone.end());
  graph_.node().Permute(kept);
  for (size_t i = 0; i < gone.size(); ++i) graph_.node().pop_back();
}

bool Fragment::Reads(const std::string& name) const {
  return std::ranges::any_of(graph_.node(), [&](const NodeProto& node) {
    return std::ranges::any_of(node.input(), [&](const String& input) { return input == name; });
  });
}

void Fragment::Put() {
  std::map<std::string, int> values = bound_;
  values[std::string()] = GraphEdit::kAbsent;
  for (TensorProto& tensor : graph_.initializer()) {
    const std::string name(tensor.name());
    if (!values.contains(name) && Reads(name)) values[name] = edit_.AddConstant(std::move(tensor), name);
  }
  const auto numbers = [&](const Repeated<String>& names) {
    std::vector<int> all;
    for (const String& name : names) {
      auto it = values.find(name);
      if (it == values.end()) it = values.emplace(name, edit_.NewValue(name)).first;
      all.push_back(it->second);
    }
    return all;
  };
  for (NodeProto& node : graph_.node()) {
    const std::vector<int> inputs = numbers(node.input()), outputs = numbers(node.output());
    node.clear_input();
    node.clear_output();
    edit_.AddNode(std::move(node), inputs, outputs);
  }
}

GraphProto Fragment::AsBody(std::string_view name, std::span<const std::string> outputs) {
  std::map<std::string, std::string> names{{"", ""}};
  for (const auto& [bound, v] : bound_) names[bound] = edit_.name(v);
  const auto renamed = [&](const std::string& old) -> const std::string& {
    auto it = names.find(old);
    if (it == names.end()) it = names.emplace(old, edit_.context().new_name(old)).first;
    return it->second;
  };
  GraphProto body;
  body.set_name(String(name));
  for (TensorProto& tensor : graph_.initializer()) {
    const std::string old(tensor.name());
    if (IsBound(old) || !Reads(old)) continue;
    tensor.set_name(String(renamed(old)));
    body.initializer().push_back(std::move(tensor));
  }
  for (NodeProto& node : graph_.node()) {
    for (String& input : node.input()) input = renamed(input);
    for (String& output : node.output()) output = renamed(output);
    body.node().push_back(std::move(node));
  }
  for (const std::string& output : outputs) body.add_output()->set_name(String(renamed(output)));
  return body;
}

}  // namespace ONNX_LIGHT_NAMESPACE
