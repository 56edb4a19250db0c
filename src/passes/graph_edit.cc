// SPDX-License-Identifier: Apache-2.0
#include "passes/graph_edit.h"

#include <algorithm>
#include <utility>

#include "graph/graph_index.h"
#include "model/domain.h"
#include "onnxseq/errors.h"
#include "ops/infer_node.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr int64_t kMaxInts = 64;  // longer constants are no axes, pads or shapes

bool IsWellFormed(const OpDef& op, const NodeProto& node) {
  try {
    CheckNode(op, node);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

GraphEdit::GraphEdit(GraphProto& graph, const Captures& captures, const GraphEdit* outer, const EditContext& context)
    : graph_(graph), captures_(captures), outer_(outer), context_(context) {
  std::vector<size_t> order;
  {
    const GraphIndex index(graph, captures, outer != nullptr);
    const auto values = static_cast<size_t>(index.value_size());
    values_.resize(values);
    std::vector<int> numbers(static_cast<size_t>(index.node_size()));
    for (const int n : index.order()) {
      numbers[static_cast<size_t>(n)] = static_cast<int>(order.size());
      order.push_back(static_cast<size_t>(n));
    }
    for (size_t v = 0; v < values; ++v) {
      const auto id = static_cast<int>(v);
      values_[v].name = index.name(id);
      values_[v].outside = index.source(id) == GraphIndex::Source::kOuter;
      values_[v].droppable = index.source(id) == GraphIndex::Source::kInitializer;
      if (index.producer(id) != kAbsent) values_[v].producer = numbers[static_cast<size_t>(index.producer(id))];
      if (values_[v].outside) values_[v].constant = outer->ConstantNamed(values_[v].name);
    }
    for (const TensorProto& tensor : graph.initializer()) {
      ValueState& value = values_[static_cast<size_t>(index.Find(tensor.name()))];
      if (value.droppable || (outer == nullptr && context.defaults_are_constant)) value.constant = &tensor;
    }
    for (const int v : index.graph_outputs()) MutableValue(v).output = true;
    nodes_.resize(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      const auto n = static_cast<int>(order[i]);
      NodeState& node = nodes_[i];
      node.proto = &graph.node()[order[i]];
      node.op = FindTableOp(*node.proto);
      // Passes look at inputs without asking how many there are; planning says what is wrong.
      if (node.op != nullptr && !IsWellFormed(*node.op, *node.proto)) node.op = nullptr;
      node.inputs.assign(index.inputs(n).begin(), index.inputs(n).end());
      node.outputs.assign(index.outputs(n).begin(), index.outputs(n).end());
      for (const int v : node.inputs)
        if (v != kAbsent) MutableValue(v).users.push_back(static_cast<int>(i));
      for (const int v : index.captured(n)) MutableValue(v).captured = true;
    }
  }
  // One that nobody used before stays: planning looks at its data.
  for (ValueState& value : values_) value.droppable = value.droppable && !value.users.empty();
  graph.node().Permute(order);
}

const OpDef* GraphEdit::FindTableOp(const NodeProto& node) const {
  const std::string_view domain = Domain(node.domain());
  if (!context_.functions.empty() && context_.functions.contains({std::string(domain), node.op_type()})) return nullptr;
  return FindOp(domain, node.op_type(), Opset(domain));
}

int64_t GraphEdit::Opset(std::string_view domain) const {
  const auto it = context_.opsets.find(domain);
  return it == context_.opsets.end() ? -1 : it->second;
}

bool GraphEdit::Is(int n, std::string_view type) const {
  const NodeState& node = At(n);
  return node.alive && node.op != nullptr && node.op->domain.empty() && node.op->type == type;
}

const TensorProto* GraphEdit::ConstantNamed(std::string_view name) const {
  if (named_ == nullptr) {
    named_ = std::make_unique<std::unordered_map<std::string_view, const TensorProto*>>();
    for (const ValueState& value : values_)
      if (value.constant != nullptr) named_->emplace(value.name, value.constant);
  }
  const auto it = named_->find(name);
  return it == named_->end() ? nullptr : it->second;
}

std::optional<std::vector<int64_t>> GraphEdit::ConstantInts(int v) const {
  const TensorProto* constant = Constant(v);
  if (constant == nullptr) return std::nullopt;
  int64_t count = 1;
  for (const int64_t dim : constant->dims())
    count = dim < 0 || dim > kMaxInts ? kMaxInts + 1 : std::min(count * dim, kMaxInts + 1);
  if (count > kMaxInts) return std::nullopt;
  try {
    const Tensor tensor = TensorFromProto(*constant);
    if (tensor.dtype() == TensorType::kInt64) {
      const std::span<const int64_t> ints = tensor.View<int64_t>();
      return std::vector<int64_t>(ints.begin(), ints.end());
    }
    if (tensor.dtype() == TensorType::kInt32) {
      const std::span<const int32_t> ints = tensor.View<int32_t>();
      return std::vector<int64_t>(ints.begin(), ints.end());
    }
  } catch (const std::exception&) {
    // Planning will say what is wrong with it.
  }
  return std::nullopt;
}

TensorType GraphEdit::TypeOf(int v) const {
  if (v == kAbsent) return TensorType::kUndefined;
  if (const TensorProto* constant = Constant(v)) return onnx_optim::DataTypeToTensorType(constant->data_type());
  for (const GraphEdit* edit = this; edit != nullptr; edit = edit->outer_) {
    const TensorType type = context_.types->TypeOf(edit->graph_, name(v));
    if (type != TensorType::kUndefined || !Value(v).outside) return type;
  }
  return TensorType::kUndefined;
}

onnx_optim::OptimShape GraphEdit::ShapeOf(int v) const {
  for (const GraphEdit* edit = this; v != kAbsent && edit != nullptr; edit = edit->outer_) {
    onnx_optim::OptimShape shape = context_.types->ShapeOf(edit->graph_, name(v));
    if (!shape.IsUnknown() || !Value(v).outside) return shape;
  }
  return onnx_optim::OptimShape::Unknown();
}

const onnx_optim::shapes::ShapeValue* GraphEdit::Inferred(int v) const {
  for (const GraphEdit* edit = this; v != kAbsent && edit != nullptr; edit = edit->outer_) {
    const onnx_optim::shapes::ShapeValue* known = context_.types->Find(edit->graph_, name(v));
    if (known != nullptr || !Value(v).outside) return known;
  }
  return nullptr;
}

void GraphEdit::DropUse(int v, int n) {
  if (v == kAbsent) return;
  std::vector<int>& users = MutableValue(v).users;
  if (const auto it = std::ranges::find(users, n); it != users.end()) users.erase(it);
}

void GraphEdit::SetInput(int n, size_t i, int v) {
  NodeState& node = nodes_[static_cast<size_t>(n)];
  while (node.inputs.size() <= i) {
    node.inputs.push_back(kAbsent);
    node.proto->add_input(String());
  }
  DropUse(node.inputs[i], n);
  node.inputs[i] = v;
  node.proto->set_input(i, v == kAbsent ? String() : String(name(v)));
  if (v != kAbsent) MutableValue(v).users.push_back(n);
}

bool GraphEdit::Replace(int from, int to) {
  if (from == to || Value(from).captured) return false;
  if (Value(from).output) {
    const int maker = producer(to);
    if (maker == kAbsent || IsPinned(to)) return false;
    NodeState& node = nodes_[static_cast<size_t>(maker)];
    // The two exchange their names, and `to` is the output now.
    std::swap(MutableValue(from).name, MutableValue(to).name);
    std::swap(MutableValue(from).output, MutableValue(to).output);
    const auto rename = [&](int v, NodeState& producer_of) {
      for (size_t i = 0; i < producer_of.outputs.size(); ++i)
        if (producer_of.outputs[i] == v) producer_of.proto->set_output(i, String(name(v)));
    };
    rename(to, node);
    rename(from, nodes_[static_cast<size_t>(producer(from))]);
    for (const int user : users(to))
      for (size_t i = 0; i < inputs(user).size(); ++i)
        if (inputs(user)[i] == to) nodes_[static_cast<size_t>(user)].proto->set_input(i, String(name(to)));
  }
  const std::vector<int> users = Value(from).users;
  for (const int user : users)
    for (size_t i = 0; i < inputs(user).size(); ++i)
      if (inputs(user)[i] == from) SetInput(user, i, to);
  return true;
}

void GraphEdit::Remove(int n) {
  NodeState& node = nodes_[static_cast<size_t>(n)];
  node.alive = false;
  for (const int v : node.inputs) DropUse(v, n);
}

int GraphEdit::AddConstant(TensorProto tensor, std::string_view name) {
  std::string unused = context_.new_name(name);
  ValueState& value = values_.emplace_back();
  value.name = std::move(unused);
  tensor.set_name(String(value.name));
  value.made = std::make_shared<const TensorProto>(std::move(tensor));
  value.constant = value.made.get();
  return static_cast<int>(values_.size() - 1);
}

void GraphEdit::MakeConstant(int v, TensorProto tensor) {
  Remove(producer(v));
  ValueState& value = MutableValue(v);
  tensor.set_name(String(value.name));
  value.producer = kAbsent;
  value.made = std::make_shared<const TensorProto>(std::move(tensor));
  value.constant = value.made.get();
}

NodeProto& GraphEdit::Rewrite(int v, std::string_view domain, std::string_view op_type,
                              const std::vector<int>& inputs) {
  const int n = producer(v);
  NodeState& node = nodes_[static_cast<size_t>(n)];
  for (const int input : node.inputs) DropUse(input, n);
  node.inputs = inputs;
  node.proto->clear_input();
  for (const int input : inputs) {
    node.proto->add_input(input == kAbsent ? String() : String(name(input)));
    if (input != kAbsent) MutableValue(input).users.push_back(n);
  }
  node.proto->clear_attribute();
  node.proto->set_domain(String(domain));
  node.proto->set_op_type(String(op_type));
  node.op = FindTableOp(*node.proto);
  return *node.proto;
}

int GraphEdit::Find(std::string_view name) const {
  const auto it = std::ranges::find(values_, name, &ValueState::name);
  return it == values_.end() ? kAbsent : static_cast<int>(it - values_.begin());
}

int GraphEdit::NewValue(std::string_view name) {
  std::string unused = context_.new_name(name);
  values_.emplace_back().name = std::move(unused);
  return static_cast<int>(values_.size() - 1);
}

int GraphEdit::AddNode(NodeProto node, const std::vector<int>& inputs, const std::vector<int>& outputs) {
  const auto n = static_cast<int>(nodes_.size());
  for (const int v : inputs) {
    node.add_input(v == kAbsent ? String() : String(name(v)));
    if (v != kAbsent) MutableValue(v).users.push_back(n);
  }
  for (const int v : outputs) {
    node.add_output(v == kAbsent ? String() : String(name(v)));
    if (v != kAbsent) MutableValue(v).producer = n;
  }
  graph_.node().push_back(std::move(node));
  NodeProto& proto = graph_.node().back();
  ForEachBody(proto, [&](const AttributeProto&, const GraphProto& body) {
    const Captures captures(body);
    for (const std::string_view used : captures.Of(body))
      if (const int v = Find(used); v != kAbsent) MutableValue(v).captured = true;
  });
  nodes_.push_back({.proto = &proto, .op = FindTableOp(proto), .inputs = inputs, .outputs = outputs});
  return n;
}

bool GraphEdit::Commit() {
  // The messages at the places where `gone` says so leave.
  const auto drop = [](auto& messages, const std::vector<bool>& gone) {
    std::vector<size_t> order;
    for (const bool leaves : {false, true})
      for (size_t i = 0; i < gone.size(); ++i)
        if (gone[i] == leaves) order.push_back(i);
    messages.Permute(order);
    for (size_t i = 0; i < gone.size(); ++i)
      if (gone[i]) messages.pop_back();
  };
  std::vector<bool> dead;
  for (const NodeState& node : nodes_) dead.push_back(!node.alive);
  drop(graph_.node(), dead);
  std::unordered_map<const TensorProto*, bool> unused;
  for (const ValueState& value : values_)
    if (value.droppable && value.constant != nullptr)
      unused.emplace(value.constant, value.users.empty() && !value.output && !value.captured);
  std::vector<bool> gone;
  for (const TensorProto& tensor : graph_.initializer()) {
    const auto it = unused.find(&tensor);
    gone.push_back(it != unused.end() && it->second);
  }
  drop(graph_.initializer(), gone);
  bool added = false;
  for (ValueState& value : values_) {
    if (value.made == nullptr || (value.users.empty() && !value.captured)) continue;
    graph_.initializer().push_back(*value.made);
    value.constant = &graph_.initializer().back();
    value.made.reset();
    added = true;
  }
  named_.reset();
  return added;
}

}  // namespace ONNX_LIGHT_NAMESPACE
