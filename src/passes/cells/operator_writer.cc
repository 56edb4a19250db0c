// SPDX-License-Identifier: Apache-2.0
#include "passes/cells/operator_writer.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "graph/node_attributes.h"
#include "kernels/activation/activation.h"
#include "model/set_attribute.h"
#include "passes/constants.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE::cells {
namespace {

using onnx_optim::OptimShape;

constexpr int kAbsent = GraphEdit::kAbsent;

NodeProto Node(std::string_view type) {
  NodeProto node;
  node.set_op_type(String(type));
  return node;
}

bool IsOne(const OptimDim& dim) { return dim == OptimDim(1); }

// The place, among axes of which only one or none is not 1, of the one that holds the rows; -1 when there is no axis.
int64_t RowAxis(const std::vector<OptimDim>& dims) {
  const auto rows = std::ranges::find_if_not(dims, IsOne);
  return rows == dims.end() ? static_cast<int64_t>(dims.size()) - 1 : rows - dims.begin();
}
std::vector<OptimDim> RowDims(const OptimShape& shape) {
  return {shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(shape.Rank()) - 1};
}
// [1,N,H] or the like.
bool IsOfOperator(const OptimShape& shape) { return shape.Rank() == 3 && IsOne(shape[0]); }

bool HoldsZeros(const Tensor& tensor) {
  const auto is_zero = [](auto elements) { return std::ranges::all_of(elements, [](auto e) { return e == 0; }); };
  if (tensor.dtype() == TensorType::kDouble) return is_zero(tensor.View<double>());
  return tensor.dtype() == TensorType::kFloat && is_zero(tensor.View<float>());
}

// Whatever is fed: zeros, or nodes that give a zero a shape.
bool IsZero(const GraphEdit& edit, int v) {
  int n = edit.producer(v);
  for (; n != kAbsent && std::ranges::any_of(std::array{"Expand", "Reshape", "Squeeze", "Unsqueeze", "Identity"},
                                             [&](const char* type) { return edit.Is(n, type); });
       n = edit.producer(v))
    v = edit.input(n, 0);
  if (n == kAbsent || !edit.Is(n, "ConstantOfShape")) return HoldsZeros(ReadConstant(edit, v, edit.TypeOf(v)));
  const AttributeProto* const value = NodeAttributes(edit.node(n)).Find("value");
  return value == nullptr || HoldsZeros(TensorFromProto(value->t()));
}

std::vector<int64_t> Moved(int64_t rank, int64_t from, int64_t to) {
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  perm.erase(perm.begin() + from);
  perm.insert(perm.begin() + to, from);
  return perm;
}

// Nodes one after the other, from a value on.
class Chain {
 public:
  Chain(GraphEdit& edit, int value) : edit_(edit), value_(value) {}

  void Transpose(const std::vector<int64_t>& perm) {
    NodeProto node = Node("Transpose");
    SetInts(node, "perm", perm);
    Then(std::move(node), {});
  }
  void Squeeze(const std::vector<int64_t>& axes) { Axes("Squeeze", axes); }
  void Unsqueeze(const std::vector<int64_t>& axes) { Axes("Unsqueeze", axes); }
  void Reshape(const std::vector<int64_t>& dims) { Then(Node("Reshape"), {Ints(dims)}); }
  // Along axis 0.
  void Reverse() {
    Then(Node("Slice"), {Ints({-1}), Ints({std::numeric_limits<int64_t>::min()}), Ints({0}), Ints({-1})});
  }
  void Take(int64_t index, int64_t axis = 0) {
    NodeProto node = Node("Gather");
    SetInt(node, "axis", axis);
    Then(std::move(node), {Tensor::Scalar(index)});
  }

  int value() const { return value_; }
  void EndAs(int v) { edit_.AddNode(Node("Identity"), {value_}, {v}); }

 private:
  static Tensor Ints(const std::vector<int64_t>& ints) {
    return Tensor::Of<int64_t>(Shape{static_cast<int64_t>(ints.size())}, ints);
  }
  void Axes(std::string_view type, const std::vector<int64_t>& axes) {
    constexpr int64_t kAxesAreInputs = 13;
    if (axes.empty()) return;
    NodeProto node = Node(type);
    if (edit_.opset() >= kAxesAreInputs) return Then(std::move(node), {Ints(axes)});
    SetInts(node, "axes", axes);
    Then(std::move(node), {});
  }
  void Then(NodeProto node, const std::vector<Tensor>& constants) {
    const std::string name = edit_.name(value_);
    std::vector<int> inputs{value_};
    for (const Tensor& tensor : constants) inputs.push_back(edit_.AddConstant(TensorToProto(tensor), node.op_type()));
    value_ = edit_.NewValue(name);
    edit_.AddNode(std::move(node), inputs, {value_});
  }

  GraphEdit& edit_;
  int value_;
};

// The places of all axes of rows but the one that holds them, `first` being that of the first.
std::vector<int64_t> EmptyAxes(const std::vector<OptimDim>& rows, int64_t first) {
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < static_cast<int64_t>(rows.size()); ++i)
    if (i != RowAxis(rows)) axes.push_back(first + i);
  return axes;
}

// To [1,N,columns].
void FromShape(Chain& chain, const OptimShape& shape, int64_t columns) {
  if (!IsOfOperator(shape)) chain.Reshape({1, -1, columns});
}
// From [1,N,H]. By axes, since Reshape reads a size of 0 otherwise.
void ToShape(Chain& chain, const OptimShape& shape) {
  if (IsOfOperator(shape)) return;
  const std::vector<OptimDim> rows = RowDims(shape);
  chain.Squeeze(rows.empty() ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{0});
  chain.Unsqueeze(EmptyAxes(rows, 0));
}

}  // namespace

int OperatorWriter::Input(const StepInput& input) {
  Chain chain(edit_, input.value);
  const OptimShape shape = edit_.ShapeOf(input.value);
  if (input.axis != 0) chain.Transpose(Moved(static_cast<int64_t>(shape.Rank()), input.axis, 0));
  std::vector<OptimDim> rows = RowDims(shape);
  rows.erase(rows.begin() + input.axis);
  if (rows.empty()) chain.Unsqueeze({1});
  chain.Squeeze(EmptyAxes(rows, 1));
  return chain.value();
}

int OperatorWriter::Stack(const std::vector<StepInput>& values, int64_t columns) {
  std::vector<int> steps;
  for (const StepInput& value : values) {
    Chain chain(edit_, value.value);
    OptimShape shape = edit_.ShapeOf(value.value);
    if (value.axis != StepInput::kWhole) {
      chain.Take(value.index, value.axis);
      std::vector<OptimDim> dims = shape.Dims();
      dims.erase(dims.begin() + value.axis);
      shape = OptimShape(std::move(dims));
    }
    FromShape(chain, shape, columns);
    steps.push_back(chain.value());
  }
  NodeProto node = Node("Concat");
  SetInt(node, "axis", 0);
  return Add(std::move(node), steps);
}

int OperatorWriter::SideBySide(const std::vector<int>& values) {
  if (values.size() == 1) return values[0];
  NodeProto node = Node("Concat");
  SetInt(node, "axis", 2);
  return Add(std::move(node), values);
}

// [1,N,H]
int OperatorWriter::Initial(int value, int64_t hidden_size) {
  Chain chain(edit_, value);
  FromShape(chain, edit_.ShapeOf(value), hidden_size);
  return chain.value();
}

// What the operator begins with when it is given nothing is given as nothing: it need not multiply by it.
int OperatorWriter::InitialOrZero(int value, int64_t hidden_size) {
  return IsZero(edit_, value) ? kAbsent : Initial(value, hidden_size);
}

int OperatorWriter::Add(NodeProto node, const std::vector<int>& inputs) {
  const int made = edit_.NewValue(edit_.name(inputs[0]));
  edit_.AddNode(std::move(node), inputs, {made});
  return made;
}

int OperatorWriter::Lengths(int value, int x) {
  NodeProto widen = Node("Cast"), narrow = Node("Cast");
  SetInt(widen, "to", TensorProto::INT64);
  SetInt(narrow, "to", TensorProto::INT32);
  Chain steps(edit_, Add(Node("Shape"), {x}));
  steps.Take(0);
  Chain lengths(edit_, value);
  lengths.Reshape({-1});
  const int zero = edit_.AddConstant(TensorToProto(Tensor::Scalar<int64_t>(0)), "zero");
  const int least = Add(Node("Max"), {Add(std::move(widen), {lengths.value()}), zero});
  return Add(std::move(narrow), {Add(Node("Min"), {least, steps.value()})});
}

int OperatorWriter::OrInitial(int lengths, int last, int initial, int64_t hidden_size) {
  const int zero = edit_.AddConstant(TensorToProto(Tensor::Scalar<int32_t>(0)), "zero");
  Chain some(edit_, Add(Node("Greater"), {lengths, zero}));
  some.Unsqueeze({1});
  return Add(Node("Where"), {some.value(), last, Initial(initial, hidden_size)});
}

OperatorWriter::Outputs OperatorWriter::Operator(std::string_view name, const Cell& cell, const CellWeights& weights,
                                                 const Inputs& inputs, const Outputs& wanted) {
  NodeProto node = Node(cell.op_type);
  node.set_name(String(name));
  SetInt(node, "hidden_size", weights.hidden_size);
  if (inputs.reversed) SetString(node, "direction", "reverse");
  std::vector<std::string> functions;
  std::vector<float> alphas, betas;
  for (const Symbol& function : cell.functions) {
    functions.push_back(function.function);
    const std::optional<kernels::ActivationKind> kind = kernels::ActivationFromName(function.function);
    if (kind && kernels::TakesAlpha(*kind)) alphas.push_back(function.alpha);
    if (kind && kernels::TakesBeta(*kind)) betas.push_back(function.beta);
  }
  SetStrings(node, "activations", functions);
  if (!alphas.empty()) SetFloats(node, "activation_alpha", alphas);
  if (!betas.empty()) SetFloats(node, "activation_beta", betas);
  if (cell.input_forget) SetInt(node, "input_forget", 1);
  if (cell.reset) SetInt(node, "linear_before_reset", 1);

  const auto constant = [&](const Tensor& tensor, std::string_view like) {
    return edit_.AddConstant(TensorToProto(tensor), like);
  };
  std::vector<int> values{inputs.x,
                          constant(weights.w, "W"),
                          constant(weights.r, "R"),
                          constant(weights.b, "B"),
                          inputs.lengths,
                          InitialOrZero(inputs.hidden, weights.hidden_size)};
  if (inputs.state != kAbsent) values.push_back(InitialOrZero(inputs.state, weights.hidden_size));
  if (weights.p.defined()) values.push_back(constant(weights.p, "P"));
  const std::string like = edit_.name(inputs.x);
  const auto output = [&](int one) { return one == kAbsent ? kAbsent : edit_.NewValue(like); };
  const Outputs made{output(wanted.all), output(wanted.hidden), output(wanted.state)};
  std::vector<int> outputs{made.all, made.hidden};
  if (inputs.state != kAbsent) outputs.push_back(made.state);
  edit_.AddNode(std::move(node), values, outputs);
  return made;
}

void OperatorWriter::GiveLast(int from, const OptimShape& shape, int to) {
  Chain chain(edit_, from);
  ToShape(chain, shape);
  chain.EndAs(to);
}

void OperatorWriter::GiveStep(int all, int64_t step, const OptimShape& shape, int to) {
  Chain chain(edit_, all);
  chain.Take(step);
  ToShape(chain, shape);
  chain.EndAs(to);
}

int OperatorWriter::Stacked(int all, const OptimShape& shape, int64_t axis, bool reversed) {
  Chain chain(edit_, all);
  const std::vector<OptimDim> rows = RowDims(shape);
  if (rows.empty()) chain.Squeeze({1, 2});
  // Where [T,1,N,H] is the shape already, there is nothing to do.
  if (!rows.empty() && !IsOfOperator(shape)) {
    chain.Squeeze({1});
    chain.Unsqueeze(EmptyAxes(rows, 1));
  }
  if (reversed) chain.Reverse();
  if (axis != 0) chain.Transpose(Moved(static_cast<int64_t>(shape.Rank()) + 1, 0, axis));
  return chain.value();
}

void OperatorWriter::GiveAll(int all, const OptimShape& shape, int64_t axis, bool reversed, int to) {
  GiveSame(Stacked(all, shape, axis, reversed), to);
}

void OperatorWriter::GiveSequence(int all, const OptimShape& shape, bool reversed, int to) {
  NodeProto node = Node("SplitToSequence");
  SetInt(node, "keepdims", 0);
  edit_.AddNode(std::move(node), {Stacked(all, shape, 0, reversed)}, {to});
}

void OperatorWriter::GiveSame(int from, int to) { Chain(edit_, from).EndAs(to); }

}  // namespace ONNX_LIGHT_NAMESPACE::cells
