// SPDX-License-Identifier: Apache-2.0
#include "runtime/inferred_types.h"

#include <algorithm>
#include <string>
#include <vector>

#include "graph/captures.h"
#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr double kUsualDim = 16;  // of a dim nothing is known of

TensorType ElementType(const ShapeValue& value) {
  if (value.IsTensor()) return value.Dtype();
  if (value.IsSequence()) return value.SequenceOf().ElemDtype();
  if (value.IsOptional() && !value.Elem().IsOptional()) return ElementType(value.Elem());
  return TensorType::kUndefined;
}

// What a body's author says of its output, better than nothing: the tensor type, of the elements of a sequence; null
// when nothing is said.
const TypeProto::Tensor* DeclaredOutput(const GraphProto& graph, std::string_view value) {
  const auto output = std::ranges::find(graph.output(), value,
                                        [](const ValueInfoProto& info) { return std::string_view(info.name()); });
  if (output == graph.output().end()) return nullptr;
  const TypeProto* type = &output->type();
  if (type->has_optional_type()) type = &type->optional_type().elem_type();
  if (type->has_sequence_type()) type = &type->sequence_type().elem_type();
  return &type->tensor_type();
}

}  // namespace

InferredTypes::InferredTypes(const ModelProto& model, const CustomOps& custom_ops) : main_(&model.graph()) {
  custom_ops.AddShapeFunctions(context_);
  try {
    InferModel(context_, model, &record_);
  } catch (const Error&) {
    // Knowing nothing is fine.
  }
  for (const BodyRecord& body : record_.bodies)
    if (body.graph != nullptr) bodies_.emplace(body.graph, &body);
}

namespace {

template <class Fn>
void ForEachBodyOfBoth(const GraphProto& original, const GraphProto& copy, Fn fn) {
  std::vector<const GraphProto*> bodies;
  for (const bool is_copy : {false, true}) {
    size_t next = 0;
    for (const NodeProto& node : (is_copy ? copy : original).node()) {
      ForEachBody(node, [&](const AttributeProto&, const GraphProto& body) {
        is_copy ? fn(*bodies.at(next++), body) : bodies.push_back(&body);
      });
    }
  }
}

}  // namespace

void InferredTypes::AddCopy(const GraphProto& original, const GraphProto& copy) {
  if (&original == main_) copy_ = &copy;
  ForEachBodyOfBoth(original, copy, [&](const GraphProto& body, const GraphProto& its_copy) {
    if (const auto known = bodies_.find(&body); known != bodies_.end()) bodies_.emplace(&its_copy, known->second);
    AddCopy(body, its_copy);
  });
}

const ShapeValue* InferredTypes::Find(const GraphProto& graph, std::string_view value) const {
  const std::string name(value);
  if (&graph == main_ || &graph == copy_) return context_.HasValue(name) ? &context_.GetValue(name) : nullptr;
  const auto body = bodies_.find(&graph);
  if (body == bodies_.end()) return nullptr;
  const auto it = body->second->values.find(name);
  return it == body->second->values.end() ? nullptr : &it->second;
}

TensorType InferredTypes::TypeOf(const GraphProto& graph, std::string_view value) const {
  const ShapeValue* known = Find(graph, value);
  const TensorType type = known == nullptr ? TensorType::kUndefined : ElementType(*known);
  if (type != TensorType::kUndefined) return type;
  const TypeProto::Tensor* declared = DeclaredOutput(graph, value);
  return declared == nullptr ? TensorType::kUndefined : onnx_optim::DataTypeToTensorType(declared->elem_type());
}

OptimShape InferredTypes::ShapeOf(const GraphProto& graph, std::string_view value) const {
  const ShapeValue* known = Find(graph, value);
  if (known != nullptr && known->HasRank()) return known->Shape();
  const TypeProto::Tensor* declared = DeclaredOutput(graph, value);
  if (declared == nullptr || !declared->has_shape()) return OptimShape::Unknown();
  std::vector<OptimDim> dims;  // names in a body are its own
  for (const auto& dim : declared->shape().dim())
    dims.push_back(dim.has_dim_value() ? OptimDim(dim.dim_value()) : OptimDim::Symbol("?"));
  return OptimShape(std::move(dims));
}

std::optional<OptimDim> InferredTypes::NumberOf(const GraphProto& graph, std::string_view value) const {
  const ShapeValue* known = Find(graph, value);
  return known == nullptr ? std::nullopt : known->ScalarValue();
}

double InferredTypes::ElementsOf(const GraphProto& graph, std::string_view value) const {
  const ShapeValue* known = Find(graph, value);
  if (known == nullptr || !known->IsTensor() || !known->HasRank()) return 0;
  double elements = 1;
  for (const OptimDim& dim : known->Shape()) elements *= dim.IsInt() ? static_cast<double>(dim.AsInt()) : kUsualDim;
  return elements;
}

}  // namespace ONNX_LIGHT_NAMESPACE
