// SPDX-License-Identifier: Apache-2.0
#include "passes/cells/put_operator.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE::cells {
namespace {

using onnx_optim::OptimShape;

constexpr int kAbsent = GraphEdit::kAbsent;
constexpr int64_t kAxesAreInputs = 13, kSliceHasSteps = 10;

NodeProto Node(std::string_view type) {
  NodeProto node;
  node.set_op_type(String(type));
  return node;
}
AttributeProto& Attribute(NodeProto& node, std::string_view name, AttributeProto::AttributeType type) {
  AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(String(name));
  attribute.set_type(type);
  return attribute;
}
void SetInt(NodeProto& node, std::string_view name, int64_t value) {
  Attribute(node, name, AttributeProto::INT).set_i(value);
}
void SetInts(NodeProto& node, std::string_view name, const std::vector<int64_t>& values) {
  AttributeProto& attribute = Attribute(node, name, AttributeProto::INTS);
  for (const int64_t value : values) attribute.add_ints(value);
}

// The place, among axes of which only one or none is not 1, of the one that holds the rows; -1 when there is no axis.
int64_t RowAxis(const std::vector<OptimDim>& dims) {
  const auto rows = std::ranges::find_if(dims, [](const OptimDim& dim) { return !(dim == OptimDim(1)); });
  return rows == dims.end() ? static_cast<int64_t>(dims.size()) - 1 : rows - dims.begin();
}

std::vector<int64_t> Moved(int64_t rank, int64_t from, int64_t to) {
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  perm.erase(perm.begin() + from);
  perm.insert(perm.begin() + to, from);
  return perm;
}

// Nodes one after the other, from a value on. They are there, before node n, when it is said what the last one makes.
class Chain {
 public:
  Chain(GraphEdit& edit, int n, int value) : edit_(edit), before_(n), value_(value) {}

  void Transpose(const std::vector<int64_t>& perm) {
    NodeProto node = Node("Transpose");
    SetInts(node, "perm", perm);
    Then(std::move(node), {});
  }
  void Squeeze(const std::vector<int64_t>& axes) { Axes("Squeeze", axes); }
  void Unsqueeze(const std::vector<int64_t>& axes) { Axes("Unsqueeze", axes); }
  void Reshape(const std::vector<int64_t>& dims) { Then(Node("Reshape"), {dims}); }
  // Along axis 0.
  void Reverse() { Then(Node("Slice"), {{-1}, {std::numeric_limits<int64_t>::min()}, {0}, {-1}}); }

  int End() { return value_; }
  void EndAs(int v) { edit_.AddNode(Node("Identity"), {value_}, {v}, before_); }

 private:
  void Axes(std::string_view type, const std::vector<int64_t>& axes) {
    if (axes.empty()) return;
    NodeProto node = Node(type);
    if (edit_.opset() >= kAxesAreInputs) return Then(std::move(node), {axes});
    SetInts(node, "axes", axes);
    Then(std::move(node), {});
  }
  void Then(NodeProto node, const std::vector<std::vector<int64_t>>& constants) {
    const std::string name = edit_.name(value_);
    std::vector<int> inputs{value_};
    for (const auto& ints : constants) {
      const Tensor tensor = Tensor::Of<int64_t>(Shape{static_cast<int64_t>(ints.size())}, ints);
      inputs.push_back(edit_.AddConstant(TensorToProto(tensor), node.op_type()));
    }
    value_ = edit_.NewValue(name);
    edit_.AddNode(std::move(node), inputs, {value_}, before_);
  }

  GraphEdit& edit_;
  int before_;
  int value_;
};

class Putting {
 public:
  Putting(GraphEdit& edit, int n, const StepBody& steps, const Cell& cell, const CellWeights& weights)
      : edit_(edit), n_(n), steps_(steps), cell_(cell), weights_(weights), reversed_(weights.inputs.at(0).reversed) {}

  void Check() const {
    constexpr int64_t kLeastOpset = 7;
    if (edit_.opset() < kLeastOpset) throw NotACell{"operators before version 7 are not written"};
    for (const StepOutput& output : steps_.outputs)
      if (output.reversed != reversed_ && edit_.opset() < kSliceHasSteps)
        throw NotACell{"its outputs are in another order than its inputs"};
    for (const int carried : {cell_.hidden, cell_.state}) {
      if (carried == kAbsent) continue;
      for (const OptimDim& dim : edit_.ShapeOf(Of(carried).initial))
        if (dim == OptimDim(0)) throw NotACell{"its state is empty"};
    }
  }

  void Put() {
    std::vector<int> inputs{Input(), Constant(weights_.w, "W"), Constant(weights_.r, "R"), Constant(weights_.b, "B"),
                            kAbsent, Initial(cell_.hidden)};
    if (cell_.state != kAbsent) inputs.push_back(Initial(cell_.state));
    if (weights_.p.defined()) inputs.push_back(Constant(weights_.p, "P"));
    const std::string name = edit_.name(inputs[0]);
    const auto output = [&](bool wanted) { return wanted ? edit_.NewValue(name) : kAbsent; };
    std::vector<int> outputs{output(!steps_.outputs.empty()), output(Of(cell_.hidden).result != kAbsent)};
    if (cell_.state != kAbsent) outputs.push_back(output(Of(cell_.state).result != kAbsent));
    edit_.AddNode(Operator(), inputs, outputs, n_);
    for (const StepOutput& step_output : steps_.outputs) Output(outputs[0], step_output);
    if (outputs[1] != kAbsent) Result(outputs[1], Of(cell_.hidden));
    if (cell_.state != kAbsent && outputs[2] != kAbsent) Result(outputs[2], Of(cell_.state));
  }

 private:
  const Carried& Of(int carried) const { return steps_.carried[static_cast<size_t>(carried)]; }
  int Constant(const Tensor& tensor, std::string_view name) { return edit_.AddConstant(TensorToProto(tensor), name); }

  NodeProto Operator() const {
    NodeProto node = Node(cell_.op_type);
    node.set_name(edit_.node(n_).name());
    SetInt(node, "hidden_size", weights_.hidden_size);
    if (reversed_) Attribute(node, "direction", AttributeProto::STRING).set_s("reverse");
    AttributeProto& activations = Attribute(node, "activations", AttributeProto::STRINGS);
    std::vector<float> alphas, betas;
    for (const Symbol& function : cell_.functions) {
      activations.add_strings(function.function);
      if (function.alpha != 0) alphas.push_back(function.alpha);
      if (function.beta != 0) betas.push_back(function.beta);
    }
    for (const auto& [attribute, numbers] :
         {std::pair("activation_alpha", alphas), std::pair("activation_beta", betas)}) {
      if (numbers.empty()) continue;
      AttributeProto& floats = Attribute(node, attribute, AttributeProto::FLOATS);
      for (const float number : numbers) floats.add_floats(number);
    }
    if (cell_.input_forget) SetInt(node, "input_forget", 1);
    if (cell_.reset) SetInt(node, "linear_before_reset", 1);
    return node;
  }

  // [T,N,I]
  int Input() {
    std::vector<int> parts;
    for (const StepInput& input : weights_.inputs) {
      Chain chain(edit_, n_, input.value);
      const OptimShape shape = edit_.ShapeOf(input.value);
      if (input.axis != 0) chain.Transpose(Moved(static_cast<int64_t>(shape.Rank()), input.axis, 0));
      std::vector<OptimDim> rows = shape.Dims();
      rows.pop_back();
      rows.erase(rows.begin() + input.axis);
      const int64_t row_axis = RowAxis(rows);
      if (row_axis < 0) chain.Unsqueeze({1});
      std::vector<int64_t> others;
      for (int64_t i = 0; i < static_cast<int64_t>(rows.size()); ++i)
        if (i != row_axis) others.push_back(i + 1);
      chain.Squeeze(others);
      parts.push_back(chain.End());
    }
    if (parts.size() == 1) return parts[0];
    NodeProto node = Node("Concat");
    SetInt(node, "axis", 2);
    const int all = edit_.NewValue(edit_.name(parts[0]));
    edit_.AddNode(std::move(node), parts, {all}, n_);
    return all;
  }

  int Initial(int carried) {
    Chain chain(edit_, n_, Of(carried).initial);
    const OptimShape shape = edit_.ShapeOf(Of(carried).initial);
    if (shape.Rank() != 3 || !(shape[0] == OptimDim(1))) chain.Reshape({1, -1, weights_.hidden_size});
    return chain.End();
  }

  // From [1,N,H] to the shape it has in the body.
  void Result(int from, const Carried& carried) {
    Chain chain(edit_, n_, from);
    const OptimShape shape = steps_.body->ShapeOf(carried.in);
    if (shape.Rank() != 3 || !(shape[0] == OptimDim(1))) {
      std::vector<int64_t> dims;
      for (const OptimDim& dim : shape) dims.push_back(dim.IsInt() ? dim.AsInt() : -1);
      chain.Reshape(dims);
    }
    chain.EndAs(carried.result);
  }

  // From [T,1,N,H] to what the body gives in each step, stacked.
  void Output(int from, const StepOutput& output) {
    Chain chain(edit_, n_, from);
    std::vector<OptimDim> rows = steps_.body->ShapeOf(output.from).Dims();
    const auto rank = static_cast<int64_t>(rows.size());
    rows.pop_back();
    const int64_t row_axis = RowAxis(rows);
    if (rank == 1) chain.Squeeze({1, 2});
    if (rank == 2) chain.Squeeze({1});
    if (rank > 3 || (rank == 3 && row_axis == 0)) {
      chain.Squeeze({1});
      std::vector<int64_t> others;
      for (int64_t i = 0; i + 1 < rank; ++i)
        if (i != row_axis) others.push_back(i + 1);
      chain.Unsqueeze(others);
    }
    if (output.reversed != reversed_) chain.Reverse();
    if (output.axis != 0) chain.Transpose(Moved(rank + 1, 0, output.axis));
    chain.EndAs(output.to);
  }

  GraphEdit& edit_;
  int n_;
  const StepBody& steps_;
  const Cell& cell_;
  const CellWeights& weights_;
  bool reversed_;
};

}  // namespace

void PutOperator(GraphEdit& edit, int n, const StepBody& steps, const Cell& cell, const CellWeights& weights) {
  Putting putting(edit, n, steps, cell, weights);
  putting.Check();
  putting.Put();
}

}  // namespace ONNX_LIGHT_NAMESPACE::cells
