// SPDX-License-Identifier: Apache-2.0
#include "passes/batch/batch_graph.h"

#include <algorithm>
#include <numeric>

#include "model/set_attribute.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {

std::optional<std::pair<BatchForm, int>> FormOf(const OptimShape& element) {
  if (element.IsUnknown()) return std::nullopt;
  int axis = -1;
  for (size_t i = 0; i < element.Rank(); ++i) {
    if (element[i].IsInt()) continue;
    if (axis >= 0) return std::nullopt;
    axis = static_cast<int>(i);
  }
  return axis < 0 ? std::pair(BatchForm::kStacked, 0) : std::pair(BatchForm::kPacked, axis);
}

std::string BatchGraph::NewName(std::string_view like) {
  for (;;) {
    std::string name = fmt::format("{}__{}", like, ++made_);
    if (names_.insert(name).second) return name;
  }
}

NodeProto& BatchGraph::Node(std::string_view op_type, const std::vector<std::string>& inputs,
                            const std::vector<std::string>& outputs, std::string_view domain) {
  NodeProto& node = *graph_.add_node();
  node.set_op_type(String(op_type));
  if (!domain.empty()) node.set_domain(String(domain));
  for (const std::string& name : inputs) node.add_input(name);
  for (const std::string& name : outputs) node.add_output(name);
  return node;
}

std::string BatchGraph::Emit(std::string_view op_type, const std::vector<std::string>& inputs,
                             const Attributes& attributes, std::string_view domain) {
  std::string name = NewName(op_type);
  NodeProto& node = Node(op_type, inputs, {name}, domain);
  if (attributes) attributes(node);
  return name;
}

std::string BatchGraph::Ints(std::span<const int64_t> values) {
  std::string& name = ints_[{values.begin(), values.end()}];
  if (name.empty()) {
    name = NewName("ints");
    *graph_.add_initializer() =
        TensorToProto(Tensor::Of<int64_t>(Shape{static_cast<int64_t>(values.size())}, values), name);
  }
  return name;
}

std::string BatchGraph::IntScalar(int64_t value) {
  std::string name = NewName("int");
  *graph_.add_initializer() = TensorToProto(Tensor::Scalar<int64_t>(value), name);
  return name;
}

std::string BatchGraph::Lengths(const OptimDim& dim) const {
  const auto it = lengths_.find(dim.ToString());
  return it == lengths_.end() ? std::string() : it->second;
}

std::optional<Batched> BatchGraph::Stack(const Batched& value) {
  if (value.IsStacked()) return value;
  if (value.form == BatchForm::kElements) {
    const auto form = FormOf(value.shape);
    return form && form->first == BatchForm::kStacked ? Join(value) : std::nullopt;
  }
  if (!value.IsUniform() || !value.shape.IsFullyKnown()) return std::nullopt;
  Batched stacked = value;
  stacked.form = BatchForm::kStacked;
  std::vector<int64_t> ones(static_cast<size_t>(value.rank()), 1);
  const std::string target =
      ones.empty() ? count_ : Emit("Concat", {count_, Ints(ones)}, [](NodeProto& node) { SetInt(node, "axis", 0); });
  stacked.name = Emit("Expand", {Emit("Unsqueeze", {value.name, Ints({0})}), target});
  return stacked;
}

std::optional<Batched> BatchGraph::Join(const Batched& value) {
  const auto form = FormOf(value.shape);
  if (!form) return std::nullopt;
  Batched joined = value;
  std::tie(joined.form, joined.axis) = *form;
  const bool stack = joined.IsStacked();
  joined.name = Emit("ConcatFromSequence", {value.name}, [&](NodeProto& node) {
    SetInt(node, "axis", joined.axis);
    SetInt(node, "new_axis", stack ? 1 : 0);
  });
  if (!stack && Lengths(joined.length()).empty()) {
    SetLengths(joined.length(), EmitInternal("SegmentLengths", {value.name},
                                             [&](NodeProto& node) { SetInt(node, "axis", joined.axis); }));
  }
  return joined;
}

std::string BatchGraph::AsSequence(const Batched& value) {
  if (value.form == BatchForm::kElements) return value.name;
  if (value.IsPacked()) {
    return Emit("SplitToSequence", {value.name, Lengths(value.length())},
                [&](NodeProto& node) { SetInt(node, "axis", value.axis); });
  }
  return Emit("SplitToSequence", {value.name}, [](NodeProto& node) {
    SetInt(node, "axis", 0);
    SetInt(node, "keepdims", 0);
  });
}

std::string BatchGraph::Unsqueezed(const Batched& value, int rank) {
  if (value.rank() >= rank) return value.name;
  std::vector<int64_t> axes(static_cast<size_t>(rank - value.rank()));
  std::iota(axes.begin(), axes.end(), 1);
  return Emit("Unsqueeze", {value.name, Ints(axes)});
}

std::optional<std::string> BatchGraph::Repeat(const Batched& value, int axis_from_end, const OptimDim& length) {
  const std::string lengths = Lengths(length);
  if (lengths.empty()) return std::nullopt;
  const int rank = std::max(value.rank(), axis_from_end);
  const int axis = rank - axis_from_end;
  if (value.rank() == rank && value.shape[static_cast<size_t>(axis)] != OptimDim(1)) return std::nullopt;
  return EmitInternal("SegmentRepeat", {Unsqueezed(value, rank), lengths},
                      [&](NodeProto& node) { SetInt(node, "axis", axis); });
}

bool BatchNode::AreUniform(size_t i) const {
  return std::all_of(inputs.begin() + static_cast<std::ptrdiff_t>(std::min(i, inputs.size())), inputs.end(),
                     [](const Batched& input) { return input.IsUniform(); });
}

std::optional<int> BatchNode::Axis(int64_t axis, size_t i) const {
  const int64_t rank = inputs[i].rank();
  if (axis < -rank || axis >= rank) return std::nullopt;
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

NodeProto& BatchNode::Copy(const std::vector<std::string>& input_names, std::span<const std::string_view> but) {
  std::vector<std::string> output_names;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const bool named = i < op.outputs.size() && op.outputs[i].count == FormalCount::kOne;
    output_names.push_back(outputs[i].name.empty() && named ? graph.NewName("unused") : outputs[i].name);
  }
  NodeProto& copy = graph.Node(op.type, input_names, output_names, node.domain());
  if (!node.name().empty()) copy.set_name(node.name());
  for (const AttributeProto& attribute : node.attribute())
    if (std::ranges::find(but, std::string_view(attribute.name())) == but.end()) *copy.add_attribute() = attribute;
  return copy;
}

std::vector<std::string> BatchNode::InputNames() const {
  std::vector<std::string> names;
  for (const Batched& input : inputs) names.push_back(input.name);
  return names;
}

}  // namespace ONNX_LIGHT_NAMESPACE
