// SPDX-License-Identifier: Apache-2.0
// passes: graphs rewritten into ones that give the same and cost less, NodeProto to NodeProto. Before it: ops (what a
// node means), graph (who makes and who uses a value). After it: runtime, which plans what comes out, and `convert`,
// which saves it.
//
// GraphEdit: one graph while passes change it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/captures.h"
#include "onnx_proto/onnx.h"
#include "onnxseq/value.h"
#include "ops/op_def.h"
#include "passes/type_knowledge.h"

namespace ONNX_LIGHT_NAMESPACE {

// What is the same for all graphs of a model.
struct EditContext {
  const TypeKnowledge* types = nullptr;
  std::map<std::string, int64_t, std::less<>> opsets;  // by domain, "" for ai.onnx
  // Of the model, which go before operators of the table: domain, name.
  std::set<std::pair<std::string, std::string>> functions;
  // Initializers that are graph inputs are constants too: nothing is fed in their place.
  bool defaults_are_constant = false;
  // As runs compute: see PrepareContext.
  bool flush_denormals = true;
  // Elementwise nodes are fused for values that may have so many elements; those that turn out to have fewer are
  // computed node by node.
  int64_t least_fused = 1;
  // Threads of a run. Recurrent nodes that may run at the same time do where that pays, and from so many multiply-adds
  // on; with 0 always.
  int threads = 1;
  int64_t least_grouped = 0;
  // A name like the one given that no value of the model has.
  std::function<std::string(std::string_view)> new_name;
  // Takes a line for the one who asks what was done. May be empty.
  std::function<void(std::string)> note;
};

// Nodes and values are numbers that stay the same whatever is changed; the messages' names are kept up to date, nodes
// leave the message in Commit. The constructor sorts the nodes: producers come before users, by number, but for nodes
// that are added. Values that bodies capture keep their names, graph outputs always. Not thread safe.
class GraphEdit {
 public:
  static constexpr int kAbsent = -1;

  // `outer`: the graph around a body, null for the main graph. Everything must outlive this. Throws what GraphIndex
  // throws.
  GraphEdit(GraphProto& graph, const Captures& captures, const GraphEdit* outer, const EditContext& context);

  int node_size() const { return static_cast<int>(nodes_.size()); }
  const NodeProto& node(int n) const { return *At(n).proto; }
  NodeProto& mutable_node(int n) { return *nodes_[static_cast<size_t>(n)].proto; }
  bool alive(int n) const { return At(n).alive; }
  // Null for what the table does not know, or is not to say, and for nodes that planning will refuse by their form.
  const OpDef* op(int n) const { return At(n).op; }
  const OpDef* FindTableOp(const NodeProto& node) const;
  // A node of ai.onnx of this type that is alive.
  bool Is(int n, std::string_view type) const;
  int64_t opset() const { return Opset(""); }
  int64_t Opset(std::string_view domain) const;
  const EditContext& context() const { return context_; }
  // Values; kAbsent for one that is left out.
  const std::vector<int>& inputs(int n) const { return At(n).inputs; }
  const std::vector<int>& outputs(int n) const { return At(n).outputs; }
  int input(int n, size_t i) const { return i < inputs(n).size() ? inputs(n)[i] : kAbsent; }

  const std::string& name(int v) const { return Value(v).name; }
  // The value of that name, kAbsent when there is none. Linear in the number of values.
  int Find(std::string_view name) const;
  int producer(int v) const { return Value(v).producer; }
  // The nodes that have it as input, once per input.
  const std::vector<int>& users(int v) const { return Value(v).users; }
  bool IsOutput(int v) const { return Value(v).output; }
  // Of a graph around this one.
  bool IsOutside(int v) const { return Value(v).outside; }
  // An output, or used by a body: there under its name.
  bool IsPinned(int v) const { return Value(v).output || Value(v).captured; }
  // The only use is this node's, once.
  bool IsOnlyUsedBy(int v, int n) const { return !IsPinned(v) && users(v).size() == 1 && users(v).front() == n; }
  // The message of a value that is the same in every run: an initializer, here or around. Null otherwise.
  const TensorProto* Constant(int v) const { return v == kAbsent ? nullptr : Value(v).constant; }
  // The same as numbers, of a small tensor of integers; nothing for others.
  std::optional<std::vector<int64_t>> ConstantInts(int v) const;
  TensorType TypeOf(int v) const;
  onnx_optim::OptimShape ShapeOf(int v) const;
  // All that inference knows of it; null when that is nothing.
  const onnx_optim::shapes::ShapeValue* Inferred(int v) const;

  // Node n uses `v` (kAbsent: nothing) as input i from now on.
  void SetInput(int n, size_t i, int v);
  // Everyone uses `to` instead of `from`, which a node makes. `from` being an output, `to` takes its name, where `to`
  // has none to keep. False, and nothing is changed, when that cannot be.
  bool Replace(int from, int to);
  // Nobody uses its outputs.
  void Remove(int n);
  // A new constant, whose name is like `name`; Commit makes it an initializer.
  int AddConstant(TensorProto tensor, std::string_view name);
  // `v` is this constant from now on; its node, which makes nothing else, is removed.
  void MakeConstant(int v, TensorProto tensor);
  // A value nobody makes yet, whose name is like `name`.
  int NewValue(std::string_view name);
  // A new node, without inputs and outputs of its own, that makes `outputs` of `inputs` (kAbsent: left out); bodies may
  // use values by name. An output that some node makes is no longer made by that one, which is to be removed. Its place
  // among the nodes is for the next GraphEdit of the graph to find.
  int AddNode(NodeProto node, const std::vector<int>& inputs, const std::vector<int>& outputs);
  // Makes the node that gives `v` another one, with these inputs, the same output and no attributes; returns it.
  NodeProto& Rewrite(int v, std::string_view domain, std::string_view op_type, const std::vector<int>& inputs);

  // Writes what has become of the graph into its message. True when there are new initializers.
  bool Commit();
  GraphProto& graph() { return graph_; }
  const GraphProto& graph() const { return graph_; }
  const Captures& captures() const { return captures_; }
  const GraphEdit* outer() const { return outer_; }

 private:
  struct NodeState {
    NodeProto* proto;
    const OpDef* op;
    bool alive = true;
    std::vector<int> inputs, outputs;
  };
  struct ValueState {
    std::string name;
    int producer = kAbsent;
    std::vector<int> users;
    bool output = false;
    bool captured = false;
    bool outside = false;                     // of a graph around
    bool droppable = false;                   // an initializer that is no graph input, and is used
    std::shared_ptr<const TensorProto> made;  // Commit adds it
    const TensorProto* constant = nullptr;
  };
  const NodeState& At(int n) const { return nodes_[static_cast<size_t>(n)]; }
  const ValueState& Value(int v) const { return values_[static_cast<size_t>(v)]; }
  ValueState& MutableValue(int v) { return values_[static_cast<size_t>(v)]; }
  const TensorProto* ConstantNamed(std::string_view name) const;
  void DropUse(int v, int n);

  GraphProto& graph_;
  const Captures& captures_;
  const GraphEdit* outer_;
  const EditContext& context_;
  std::vector<NodeState> nodes_;
  std::vector<ValueState> values_;
  // Of the constants, for bodies; made when first asked for.
  mutable std::unique_ptr<std::unordered_map<std::string_view, const TensorProto*>> named_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
