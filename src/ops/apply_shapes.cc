// SPDX-License-Identifier: Apache-2.0
// What is inferred, written back into the messages.
#include <map>
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

// What two calls of a function have in common: a type whose kinds or element types differ is cleared.
void KeepCommon(const TypeProto& from, TypeProto& to) {
  if (to.has_sequence_type() && from.has_sequence_type())
    return KeepCommon(from.sequence_type().elem_type(), to.ref_sequence_type().ref_elem_type());
  if (to.has_optional_type() && from.has_optional_type())
    return KeepCommon(from.optional_type().elem_type(), to.ref_optional_type().ref_elem_type());
  if (to == from) return;
  const bool same =
      to.has_tensor_type() && from.has_tensor_type() && to.tensor_type().elem_type() == from.tensor_type().elem_type();
  if (!same) return to.Clear();
  const TypeProto::Tensor& other = from.tensor_type();
  TypeProto::Tensor& tensor = to.ref_tensor_type();
  if (!other.has_shape() || !tensor.has_shape() || other.shape().dim().size() != tensor.shape().dim().size())
    return tensor.clear_shape();
  auto& dims = tensor.ref_shape().dim();
  for (size_t i = 0; i < dims.size(); ++i)
    if (!(dims[i] == other.shape().dim(i))) dims[i].clear_value();
}

// The types of the values of each function, those that all its calls agree on.
using FunctionTypes = std::map<std::string, std::map<std::string, TypeProto>>;
FunctionTypes TypesOfFunctions(const InferenceRecord& record) {
  FunctionTypes functions;
  for (const BodyRecord& call : record.bodies) {
    if (call.function.empty()) continue;
    const auto [types, first] = functions.try_emplace(call.function);
    for (const auto& [name, value] : call.values) {
      TypeProto type;
      const bool known = ToTypeProto(value, type);
      if (first) {
        types->second.emplace(name, std::move(type));
      } else if (const auto it = types->second.find(name); it != types->second.end()) {
        known ? KeepCommon(type, it->second) : it->second.Clear();
      }
    }
  }
  return functions;
}

void ApplyToFunction(FunctionProto& function, const std::map<std::string, TypeProto>& types) {
  std::unordered_set<std::string_view> names;
  for (ValueInfoProto& info : function.value_info()) {
    names.insert(info.name());
    const auto it = types.find(info.name());
    if (it != types.end() && it->second.value_case() != TypeProto::VALUE_NOT_SET) FillType(it->second, info.ref_type());
  }
  const auto add = [&](const std::string& name) {
    const auto it = name.empty() || names.contains(name) ? types.end() : types.find(name);
    if (it == types.end() || it->second.value_case() == TypeProto::VALUE_NOT_SET) return;
    ValueInfoProto& info = *function.add_value_info();
    info.set_name(name);
    *info.mutable_type() = it->second;
  };
  for (const String& name : std::as_const(function).input()) add(name);
  for (const NodeProto& node : std::as_const(function).node())
    for (const String& name : node.output()) add(name);
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
  // Functions have had types for their values since IR version 10.
  if (model.ir_version() < 10) return;
  const FunctionTypes types = TypesOfFunctions(record);
  for (FunctionProto& function : model.functions()) {
    const auto it = types.find(FunctionKey(function.domain(), function.name(), function.overload()));
    if (it != types.end()) ApplyToFunction(function, it->second);
  }
}

}  // namespace shapes
}  // namespace onnx_optim

}  // namespace ONNX_LIGHT_NAMESPACE
