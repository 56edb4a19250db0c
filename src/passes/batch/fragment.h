// SPDX-License-Identifier: Apache-2.0
// Nodes with names of their own, made aside and then put into a graph that is edited.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "passes/batch/batch_graph.h"
#include "passes/graph_edit.h"

namespace ONNX_LIGHT_NAMESPACE {

class Fragment {
 public:
  // `graph`: what is there already. Its inputs are bound by Bind, or made by nodes that are added.
  explicit Fragment(GraphEdit& edit, GraphProto graph = {});
  Fragment(const Fragment&) = delete;
  Fragment& operator=(const Fragment&) = delete;

  BatchGraph& made() { return made_; }
  const GraphProto& graph() const { return graph_; }
  // The name of a value of the edited graph in here, to be read or made.
  std::string Of(int v);
  // What is called `name` in here is that value.
  void Bind(const std::string& name, int v) { bound_[name] = v; }
  bool IsBound(const std::string& name) const { return bound_.contains(name); }

  // Sorts the nodes, and drops those that none of `wanted` depends on.
  void Prune(std::span<const std::string> wanted);
  bool Reads(const std::string& name) const;
  // Moves all into the edited graph.
  void Put();
  // Moves all into a graph that gives `outputs` and reads the edited graph's values by name.
  GraphProto AsBody(std::string_view name, std::span<const std::string> outputs);

 private:
  GraphEdit& edit_;
  GraphProto graph_;
  BatchGraph made_;
  std::map<std::string, int> bound_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
