// SPDX-License-Identifier: Apache-2.0
// What is inferred, written back into the messages.
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "onnx_optim/shapes/shape_inference.h"
#include "onnxseq/errors.h"
#include "ops/infer_graph.h"

namespace ONNX_LIGHT_NAMESPACE {

namespace {

void FillShape(const TensorShapeProto& from, TensorShapeProto& to) {
  if (from.dim().size() != to.dim().size()) return;
  for (size_t i = 0; i < to.dim().size(); ++i) {
    auto& dim = to.dim()[i];
    if (dim.has_dim_value() || (dim.has_dim_param() && !dim.dim_param().empty())) continue;
    const auto& known = from.dim(i);
    if (known.has_dim_value()) dim.set_dim_value(known.dim_value());
    if (known.has_dim_param()) dim.set_dim_param(known.dim_param());
  }
}

// Fills in what `to` leaves open.
void FillType(const TypeProto& from, TypeProto& to) {
  if (to.value_case() == TypeProto::VALUE_NOT_SET) {
    to = from;
    return;
  }
  if (to.has_tensor_type() && from.has_tensor_type()) {
    auto& tensor = to.ref_tensor_type();
    if (tensor.elem_type() == 0) tensor.set_elem_type(from.tensor_type().elem_type());
    if (tensor.elem_type() != from.tensor_type().elem_type() || !from.tensor_type().has_shape()) return;
    if (tensor.has_shape()) {
      FillShape(from.tensor_type().shape(), tensor.ref_shape());
    } else {
      tensor.set_shape(from.tensor_type().shape());
    }
  } else if (to.has_sequence_type() && from.has_sequence_type()) {
    FillType(from.sequence_type().elem_type(), to.ref_sequence_type().ref_elem_type());
  } else if (to.has_optional_type() && from.has_optional_type()) {
    FillType(from.optional_type().elem_type(), to.ref_optional_type().ref_elem_type());
  }
}

// `find(name)` gives what is inferred of a value, null for nothing.
template <class Find>
void Apply(GraphProto& graph, Find find) {
  std::unordered_set<std::string_view> outside;
  for (const ValueInfoProto& input : std::as_const(graph).input()) outside.insert(input.name());
  const auto fill = [&](ValueInfoProto& info) {
    const ShapeValue* value = find(info.name());
    TypeProto type;
    if (value != nullptr && ToTypeProto(*value, type)) FillType(type, info.ref_type());
  };
  for (ValueInfoProto& output : graph.output()) {
    outside.insert(output.name());
    fill(output);
  }
  std::unordered_set<std::string_view> declared;
  for (ValueInfoProto& info : graph.value_info()) {
    declared.insert(info.name());
    fill(info);
  }
  for (const NodeProto& node : std::as_const(graph).node()) {
    for (const String& name : node.output()) {
      if (name.empty() || outside.contains(name) || declared.contains(name)) continue;
      const ShapeValue* value = find(name);
      TypeProto type;
      if (value == nullptr || !ToTypeProto(*value, type)) continue;
      ValueInfoProto& info = *graph.add_value_info();
      info.set_name(name);
      *info.mutable_type() = std::move(type);
      declared.insert(name);
    }
  }
}

}  // namespace

namespace onnx_optim {
namespace shapes {

void ApplyInferredShapesToGraph(const ShapesContext& ctx, GraphProto& graph) {
  Apply(graph, [&](std::string_view name) { return ctx.Find(name); });
}

void ApplyInferredShapesToModel(const ShapesContext& ctx, ModelProto& model) {
  if (!std::as_const(model).has_graph()) throw InvalidArgument("the model has no graph");
  ApplyInferredShapesToGraph(ctx, model.ref_graph());
}

void InferShapesModel(ModelProto& model) {
  ShapesContext ctx;
  InferenceRecord record;
  InferModel(ctx, model, &record);
  ApplyInferredShapesToGraph(ctx, model.ref_graph());
  for (const BodyRecord& body : record.bodies) {
    if (body.graph == nullptr) continue;
    // The model is the caller's to change, and the record's pointers lead into it.
    Apply(const_cast<GraphProto&>(*body.graph), [&](std::string_view name) -> const ShapeValue* {
      const auto it = body.values.find(std::string(name));
      return it == body.values.end() ? nullptr : &it->second;
    });
  }
}

}  // namespace shapes
}  // namespace onnx_optim

}  // namespace ONNX_LIGHT_NAMESPACE
