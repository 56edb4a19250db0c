// SPDX-License-Identifier: Apache-2.0
#include "graph/graph_index.h"

#include <fmt/format.h>

#include <functional>
#include <queue>
#include <string>
#include <utility>

#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

[[noreturn]] void FailGraph(std::string subject, std::string fact) {
  throw InvalidArgument(std::move(fact), {.op_type = {}, .node_name = {}, .subject = std::move(subject), .path = {}});
}
[[noreturn]] void FailNode(const NodeProto& node, std::string subject, std::string fact) {
  throw InvalidArgument(
      std::move(fact),
      {.op_type = node.op_type(), .node_name = node.name(), .subject = std::move(subject), .path = {}});
}

// `Relu node "a"`, or by what an unnamed node makes: `Relu node of "y"`.
std::string Describe(const NodeProto& node) {
  if (!node.name().empty()) return fmt::format("{} node \"{}\"", node.op_type().as_string(), node.name().as_string());
  for (const auto& output : node.output())
    if (!output.empty()) return fmt::format("{} node of \"{}\"", node.op_type().as_string(), output.as_string());
  return fmt::format("{} node", node.op_type().as_string());
}

}  // namespace

GraphIndex::GraphIndex(const GraphProto& graph, const Captures& captures, bool is_body) : graph_(&graph) {
  ids_.reserve(graph.input().size() + graph.initializer().size() + 2 * graph.node().size());
  AddInputs();
  if (is_body)
    for (const std::string_view name : captures.Of(graph)) outer_.push_back(Add(name, Source::kOuter, kAbsent));
  AddOutputs();
  Connect(captures, is_body);
  CountUses();
  Sort();
}

int GraphIndex::Find(std::string_view name) const {
  const auto it = ids_.find(name);
  return it == ids_.end() ? kAbsent : it->second;
}

int GraphIndex::Add(std::string_view name, Source source, int producer) {
  const int id = value_size();
  if (!ids_.emplace(name, id).second) return kAbsent;
  names_.push_back(name);
  sources_.push_back(source);
  producers_.push_back(producer);
  return id;
}

void GraphIndex::AddInputs() {
  for (int i = 0; i < graph_->input_size(); ++i) {
    const std::string_view name = graph_->input(static_cast<size_t>(i)).name();
    if (name.empty()) FailGraph(fmt::format("graph input {}", i), "has no name");
    if (Add(name, Source::kInput, kAbsent) == kAbsent)
      FailGraph(fmt::format("graph input \"{}\"", name), "is declared twice");
  }
  std::unordered_map<std::string_view, int> seen;
  const auto add = [&](std::string_view name, int i) {
    if (name.empty()) FailGraph(fmt::format("initializer {}", i), "has no name");
    if (!seen.emplace(name, i).second) FailGraph(fmt::format("initializer \"{}\"", name), "is given twice");
    Add(name, Source::kInitializer, kAbsent);  // nothing happens when it is the default of an input
  };
  int i = 0;
  for (const TensorProto& initializer : graph_->initializer()) add(initializer.name(), i++);
  for (const SparseTensorProto& initializer : graph_->sparse_initializer()) add(initializer.values().name(), i++);
}

void GraphIndex::AddOutputs() {
  output_begins_.push_back(0);
  for (int n = 0; n < node_size(); ++n) {
    const NodeProto& node = graph_->node(static_cast<size_t>(n));
    for (int i = 0; i < node.output_size(); ++i) {
      const std::string_view name = node.output(static_cast<size_t>(i));
      if (name.empty()) {
        outputs_.push_back(kAbsent);
        continue;
      }
      const int id = Add(name, Source::kNode, n);
      if (id == kAbsent) {
        const int first = Find(name);
        const std::string subject = fmt::format("output {} (\"{}\")", i, name);
        if (source(first) == Source::kInput) FailNode(node, subject, "has the name of a graph input");
        if (source(first) == Source::kInitializer) FailNode(node, subject, "has the name of an initializer");
        FailNode(node, subject,
                 producer(first) == n ? std::string("is produced twice by this node")
                                      : fmt::format("is produced by {} already",
                                                    Describe(graph_->node(static_cast<size_t>(producer(first))))));
      }
      outputs_.push_back(id);
    }
    output_begins_.push_back(static_cast<int>(outputs_.size()));
  }
}

void GraphIndex::Connect(const Captures& captures, bool is_body) {
  input_begins_.push_back(0);
  captured_begins_.push_back(0);
  std::vector<int> met(static_cast<size_t>(value_size()), 0);  // by which node (counted from 1) last; then by outputs
  int node_count = 0;
  for (const NodeProto& node : graph_->node()) {
    ++node_count;
    int i = 0;
    for (const auto& name : node.input()) {
      const int id = name.empty() ? kAbsent : Find(name);
      if (!name.empty() && id == kAbsent)
        FailNode(node, fmt::format("input {} (\"{}\")", i, name.as_string()),
                 "is not produced by any node, input or initializer");
      inputs_.push_back(id);
      ++i;
    }
    ForEachBody(node, [&](const AttributeProto& attribute, const GraphProto& body) {
      for (const std::string_view name : captures.Of(body)) {
        const int id = Find(name);
        if (id == kAbsent)
          FailNode(node, fmt::format("attribute '{}'", attribute.name().as_string()),
                   fmt::format("uses \"{}\", which is not produced by any node, input or initializer", name));
        if (std::exchange(met[static_cast<size_t>(id)], node_count) != node_count) captured_.push_back(id);
      }
    });
    input_begins_.push_back(static_cast<int>(inputs_.size()));
    captured_begins_.push_back(static_cast<int>(captured_.size()));
  }
  int i = 0;
  for (const ValueInfoProto& output : graph_->output()) {
    if (output.name().empty()) FailGraph(fmt::format("graph output {}", i), "has no name");
    const int id = Find(output.name());
    if (id == kAbsent) FailGraph(fmt::format("graph output \"{}\"", output.name().as_string()), "is not produced");
    if (std::exchange(met[static_cast<size_t>(id)], kAbsent) == kAbsent && !is_body)
      FailGraph(fmt::format("graph output \"{}\"", output.name().as_string()), "is declared twice");
    graph_outputs_.push_back(id);
    ++i;
  }
}

void GraphIndex::CountUses() {
  use_begins_.assign(static_cast<size_t>(value_size()) + 1, 0);
  const auto each = [&](auto fn) {
    for (int n = 0; n < node_size(); ++n) {
      for (const int id : inputs(n))
        if (id != kAbsent) fn(id, n);
      for (const int id : captured(n)) fn(id, n);
    }
  };
  each([&](int id, int) { ++use_begins_[static_cast<size_t>(id) + 1]; });
  for (size_t i = 1; i < use_begins_.size(); ++i) use_begins_[i] += use_begins_[i - 1];
  uses_.resize(static_cast<size_t>(use_begins_.back()));
  std::vector<int> next(use_begins_.begin(), use_begins_.end() - 1);
  each([&](int id, int n) { uses_[static_cast<size_t>(next[static_cast<size_t>(id)]++)] = n; });
}

void GraphIndex::Sort() {
  // How many of a node's inputs are made by nodes that have not run.
  std::vector<int> missing(static_cast<size_t>(node_size()), 0);
  bool sorted = true;
  const auto depend = [&](int n, int id) {
    if (id == kAbsent || producer(id) == kAbsent) return;
    ++missing[static_cast<size_t>(n)];
    sorted = sorted && producer(id) < n;
  };
  for (int n = 0; n < node_size(); ++n) {
    for (const int id : inputs(n)) depend(n, id);
    for (const int id : captured(n)) depend(n, id);
  }
  order_.reserve(static_cast<size_t>(node_size()));
  if (sorted) {
    for (int n = 0; n < node_size(); ++n) order_.push_back(n);
    return;
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int n = 0; n < node_size(); ++n)
    if (missing[static_cast<size_t>(n)] == 0) ready.push(n);
  while (!ready.empty()) {
    const int n = ready.top();
    ready.pop();
    order_.push_back(n);
    for (const int id : outputs(n)) {
      if (id == kAbsent) continue;
      for (const int user : uses(id))
        if (--missing[static_cast<size_t>(user)] == 0) ready.push(user);
    }
  }
  if (order_.size() != static_cast<size_t>(node_size())) FailCycle(missing);
}

// Walks back over producers that could not run until a node comes again.
void GraphIndex::FailCycle(const std::vector<int>& missing) const {
  int n = 0;
  while (missing[static_cast<size_t>(n)] == 0) ++n;
  std::vector<int> seen_at(missing.size(), kAbsent);
  std::vector<int> walk;
  while (seen_at[static_cast<size_t>(n)] == kAbsent) {
    seen_at[static_cast<size_t>(n)] = static_cast<int>(walk.size());
    walk.push_back(n);
    const auto blocked = [&](int id) {
      return id != kAbsent && producer(id) != kAbsent && missing[static_cast<size_t>(producer(id))] > 0;
    };
    int next = kAbsent;
    for (const int id : inputs(n))
      if (next == kAbsent && blocked(id)) next = producer(id);
    for (const int id : captured(n))
      if (next == kAbsent && blocked(id)) next = producer(id);
    n = next;
  }
  std::string text = "the graph has a cycle: ";
  const std::vector<int> cycle(walk.begin() + seen_at[static_cast<size_t>(n)], walk.end());
  constexpr size_t kNamed = 10;
  for (size_t i = cycle.size(); i-- > 0;) {  // the walk went against the flow
    if (cycle.size() - i > kNamed) {
      text += "... -> ";
      break;
    }
    text += Describe(graph_->node(static_cast<size_t>(cycle[i]))) + " -> ";
  }
  throw InvalidArgument(text + Describe(graph_->node(static_cast<size_t>(cycle.back()))));
}

}  // namespace ONNX_LIGHT_NAMESPACE
