// SPDX-License-Identifier: Apache-2.0
#include "runtime/inferred_types.h"

#include <string>

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

const ShapeValue* InferredTypes::Find(const GraphProto& graph, std::string_view value) const {
  const std::string name(value);
  if (&graph == main_) return context_.HasValue(name) ? &context_.GetValue(name) : nullptr;
  const auto body = bodies_.find(&graph);
  if (body == bodies_.end()) return nullptr;
  const auto it = body->second->values.find(name);
  return it == body->second->values.end() ? nullptr : &it->second;
}

TensorType InferredTypes::TypeOf(const GraphProto& graph, std::string_view value) const {
  const ShapeValue* known = Find(graph, value);
  const TensorType type = known == nullptr ? TensorType::kUndefined : ElementType(*known);
  if (type != TensorType::kUndefined) return type;
  for (const ValueInfoProto& output : graph.output()) {  // what the body's author says is better than nothing
    if (output.name() != value) continue;
    const TypeProto* declared = &output.type();
    if (declared->has_optional_type()) declared = &declared->optional_type().elem_type();
    if (declared->has_sequence_type()) declared = &declared->sequence_type().elem_type();
    return onnx_optim::DataTypeToTensorType(declared->tensor_type().elem_type());
  }
  return TensorType::kUndefined;
}

double InferredTypes::ElementsOf(const GraphProto& graph, std::string_view value) const {
  const ShapeValue* known = Find(graph, value);
  if (known == nullptr || !known->IsTensor() || !known->HasRank()) return 0;
  double elements = 1;
  for (const OptimDim& dim : known->Shape()) elements *= dim.IsInt() ? static_cast<double>(dim.AsInt()) : kUsualDim;
  return elements;
}

}  // namespace ONNX_LIGHT_NAMESPACE
