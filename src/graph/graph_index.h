// SPDX-License-Identifier: Apache-2.0
// GraphIndex: a graph's names as small numbers, who makes and who uses each value, and an order the nodes can run in.
#pragma once

#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/captures.h"
#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

// Built in time linear in the graph (n log n when its nodes must be sorted). A view: the messages and the Captures must
// outlive it and stay as they are. Values are numbered 0, 1, ...: graph inputs, initializers that are no inputs,
// captured outer names, node outputs.
class GraphIndex {
 public:
  static constexpr int kAbsent = -1;
  enum class Source : unsigned char { kInput, kInitializer, kOuter, kNode };

  // `is_body`: the graph stands in an attribute, names it does not define are outer ones. Throws InvalidArgument,
  // naming node and value, for cycles, names defined twice, undefined inputs, outputs nothing produces and values
  // without name.
  GraphIndex(const GraphProto& graph, const Captures& captures, bool is_body);

  const GraphProto& graph() const { return *graph_; }
  int value_size() const { return static_cast<int>(names_.size()); }
  int node_size() const { return graph_->node_size(); }

  std::string_view name(int value) const { return names_[static_cast<size_t>(value)]; }
  // kAbsent when no value has the name.
  int Find(std::string_view name) const;
  Source source(int value) const { return sources_[static_cast<size_t>(value)]; }
  // The node that makes the value; kAbsent when its source is another.
  int producer(int value) const { return producers_[static_cast<size_t>(value)]; }
  // The nodes that use the value, captures by their bodies included; a node stands here once per use.
  std::span<const int> uses(int value) const { return Slice(uses_, use_begins_, value); }

  // Per node: the value of each input and output in order, kAbsent for those that are left out; and what its bodies
  // capture.
  std::span<const int> inputs(int node) const { return Slice(inputs_, input_begins_, node); }
  std::span<const int> outputs(int node) const { return Slice(outputs_, output_begins_, node); }
  std::span<const int> captured(int node) const { return Slice(captured_, captured_begins_, node); }

  // The values of the graph's outputs; of the outer names, in the order of Captures::Of (bodies only).
  std::span<const int> graph_outputs() const { return graph_outputs_; }
  std::span<const int> outer() const { return outer_; }
  // All node indices, producers before users; as in the file wherever that is such an order.
  std::span<const int> order() const { return order_; }

 private:
  static std::span<const int> Slice(const std::vector<int>& all, const std::vector<int>& begins, int i) {
    const auto at = static_cast<size_t>(i);
    return {all.data() + begins[at], static_cast<size_t>(begins[at + 1] - begins[at])};
  }
  int Add(std::string_view name, Source source, int producer);
  void AddInputs();
  void AddOutputs();
  void Connect(const Captures& captures, bool is_body);
  void CountUses();
  void Sort();
  [[noreturn]] void FailCycle(const std::vector<int>& missing) const;

  const GraphProto* graph_;
  std::unordered_map<std::string_view, int> ids_;
  std::vector<std::string_view> names_;
  std::vector<Source> sources_;
  std::vector<int> producers_;
  std::vector<int> uses_, use_begins_;
  std::vector<int> inputs_, input_begins_;
  std::vector<int> outputs_, output_begins_;
  std::vector<int> captured_, captured_begins_;
  std::vector<int> graph_outputs_;
  std::vector<int> outer_;
  std::vector<int> order_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
