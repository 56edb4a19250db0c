// SPDX-License-Identifier: Apache-2.0
// The batched graph while it is made, and one node of the body as a rule sees it.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "graph/node_attributes.h"
#include "onnx_optim/optim_tensor.h"
#include "onnx_proto/onnx.h"
#include "ops/internal/internal_domain.h"
#include "ops/op_def.h"
#include "passes/batch/batch_body.h"

namespace ONNX_LIGHT_NAMESPACE {

using onnx_optim::OptimDim;
using onnx_optim::OptimShape;

// A value of the body in the batched graph.
struct Batched {
  BatchForm form = BatchForm::kUniform;
  std::string name;  // in the batched graph
  TensorType dtype = TensorType::kUndefined;
  OptimShape shape = OptimShape::Unknown();  // of one element
  int axis = 0;                              // of a packed one: where its dim is no integer

  bool IsUniform() const { return form == BatchForm::kUniform; }
  bool IsStacked() const { return form == BatchForm::kStacked; }
  bool IsPacked() const { return form == BatchForm::kPacked; }
  int rank() const { return static_cast<int>(shape.Rank()); }
  // Of a packed one, from the right.
  int axis_from_end() const { return rank() - axis; }
  const OptimDim& length() const { return shape[static_cast<size_t>(axis)]; }
};

class BatchGraph {
 public:
  // `taken`: names that are not to be made.
  BatchGraph(GraphProto& graph, std::unordered_set<std::string> taken) : graph_(graph), names_(std::move(taken)) {}

  std::string NewName(std::string_view like);
  NodeProto& Node(std::string_view op_type, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs, std::string_view domain = {});
  using Attributes = std::function<void(NodeProto&)>;
  // A node with one output, which is returned.
  std::string Emit(std::string_view op_type, const std::vector<std::string>& inputs, const Attributes& attributes = {},
                   std::string_view domain = {});
  std::string EmitInternal(std::string_view op_type, const std::vector<std::string>& inputs,
                           const Attributes& attributes = {}) {
    return Emit(op_type, inputs, attributes, kInternalDomain);
  }
  // A constant: int64 [n].
  std::string Ints(std::span<const int64_t> values);
  std::string Ints(std::initializer_list<int64_t> values) { return Ints(std::span(values.begin(), values.size())); }
  std::string IntScalar(int64_t value);

  // int64 [1]: the number of elements.
  void SetCount(std::string name) { count_ = std::move(name); }
  const std::string& count() const { return count_; }
  // int64 [N]: what `dim`, which is no integer, is for each element. Empty when nobody has said.
  void SetLengths(const OptimDim& dim, std::string name) { lengths_.emplace(dim.ToString(), std::move(name)); }
  std::string Lengths(const OptimDim& dim) const;

  // Conversions. Uniform and elements of one shape to stacked; nothing when it cannot be.
  std::optional<Batched> Stack(const Batched& value);
  // Elements to the form of their shape.
  std::optional<Batched> Join(const Batched& value);
  // Stacked and packed ones to a sequence.
  std::string AsSequence(const Batched& value);
  // A stacked value with axes of 1 before the element's own, so that it has `rank`.
  std::string Unsqueezed(const Batched& value, int rank);
  // A stacked value, 1 or nothing at `axis_from_end` of the element, repeated there `length` times: packed.
  std::optional<std::string> Repeat(const Batched& value, int axis_from_end, const OptimDim& length);

  GraphProto& graph() { return graph_; }

 private:
  GraphProto& graph_;
  std::unordered_set<std::string> names_;
  int64_t made_ = 0;
  std::string count_;
  std::map<std::string, std::string> lengths_;
  std::map<std::vector<int64_t>, std::string> ints_;
};

// One node of the body, every input batched or uniform and of known rank, some not uniform.
class BatchNode {
 public:
  BatchNode(BatchGraph& batch_graph, const NodeProto& the_node, const OpDef& its_op)
      : graph(batch_graph), node(the_node), attrs(the_node), op(its_op) {}

  BatchGraph& graph;
  const NodeProto& node;
  const NodeAttributes attrs;
  const OpDef& op;
  std::vector<Batched> inputs;                            // an absent one has no name
  std::vector<std::optional<std::vector<int64_t>>> ints;  // of small integer inputs that are uniform and known
  std::vector<Batched> outputs;                           // in the form of their shapes; an unwanted one has no name
  std::string why;                                        // of the last Fail

  bool HasInput(size_t i) const { return i < inputs.size() && !inputs[i].name.empty(); }
  bool HasOutput(size_t i) const { return i < outputs.size() && !outputs[i].name.empty(); }
  // All inputs from i on are uniform.
  bool AreUniform(size_t i) const;
  bool Fail(std::string reason) {
    why = std::move(reason);
    return false;
  }
  // The axis, counted from the front of an element of input i; nothing when it is outside.
  std::optional<int> Axis(int64_t axis, size_t i = 0) const;

  // The node as it stands, with these inputs and the outputs' names; the attributes in `but` are left out.
  NodeProto& Copy(const std::vector<std::string>& input_names, std::span<const std::string_view> but = {});
  NodeProto& Copy(const std::vector<std::string>& input_names, std::initializer_list<std::string_view> but) {
    return Copy(input_names, std::span(but.begin(), but.size()));
  }
  std::vector<std::string> InputNames() const;
};

}  // namespace ONNX_LIGHT_NAMESPACE
