// SPDX-License-Identifier: Apache-2.0
// What is inferred, written back into the messages.
#include <fmt/format.h>

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "onnx_optim/shapes/shape_inference.h"
#include "onnxseq/errors.h"
#include "ops/infer_graph.h"
#include "ops/infer_node.h"

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

// Types by name, one that is not set where nothing is known.
using Types = std::map<std::string, TypeProto, std::less<>>;
// Of each function's values and of those of its bodies, by the path from the function on ("" for its own): the types
// all its calls agree on.
using FunctionTypes = std::map<std::string, std::map<std::string, Types>>;
FunctionTypes TypesOfFunctions(const InferenceRecord& record) {
  FunctionTypes functions;
  for (const BodyRecord& call : record.bodies) {
    if (call.function.empty()) continue;
    const auto [types, first] = functions[call.function].try_emplace(call.inner);
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

bool TypeIn(const Types& types, std::string_view name, TypeProto& type) {
  const auto it = types.find(name);
  if (it == types.end() || it->second.value_case() == TypeProto::VALUE_NOT_SET) return false;
  type = it->second;
  return true;
}

// Fills in what `infos` leave open and adds infos of the other `names`; none is added of those `outside`.
// `type_of(name, type)` sets the type that is inferred of a value, or gives false.
template <class Infos, class TypeOf>
void ApplyToInfos(Infos& infos, const std::unordered_set<std::string_view>& outside,
                  const std::vector<std::string_view>& names, const TypeOf& type_of) {
  std::unordered_set<std::string> declared;
  for (ValueInfoProto& info : infos) {
    declared.insert(info.name());
    TypeProto type;
    if (type_of(info.name(), type)) FillType(type, info.ref_type());
  }
  for (const std::string_view name : names) {
    TypeProto type;
    if (name.empty() || outside.contains(name) || !declared.emplace(name).second || !type_of(name, type)) continue;
    ValueInfoProto& info = infos.add();
    info.set_name(String(name));
    *info.mutable_type() = std::move(type);
  }
}

template <class Nodes>
void AddOutputs(const Nodes& nodes, std::vector<std::string_view>& names) {
  for (const NodeProto& node : nodes)
    for (const String& name : node.output()) names.push_back(name);
}

template <class TypeOf>
void Apply(GraphProto& graph, const TypeOf& type_of) {
  std::unordered_set<std::string_view> outside;
  for (const ValueInfoProto& input : std::as_const(graph).input()) outside.insert(input.name());
  for (ValueInfoProto& output : graph.output()) {
    outside.insert(output.name());
    TypeProto type;
    if (type_of(output.name(), type)) FillType(type, output.ref_type());
  }
  std::vector<std::string_view> names;
  AddOutputs(std::as_const(graph).node(), names);
  ApplyToInfos(graph.value_info(), outside, names, type_of);
}

// `path`: from the function on to the nodes.
void ApplyToBodies(RepeatedMessages<NodeProto>& nodes, const std::string& path,
                   const std::map<std::string, Types>& types) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (AttributeProto& attribute : nodes[i].attribute()) {
      if (!attribute.has_g()) continue;
      const std::string inner =
          fmt::format("{}/{}/{}", path, NodePathName(nodes[i], static_cast<int64_t>(i)), attribute.name().as_string());
      GraphProto& body = attribute.ref_g();
      if (const auto it = types.find(inner); it != types.end())
        Apply(body, [&](std::string_view name, TypeProto& type) { return TypeIn(it->second, name, type); });
      ApplyToBodies(body.node(), inner, types);
    }
  }
}

void ApplyToFunction(FunctionProto& function, const std::map<std::string, Types>& types, bool has_value_info) {
  if (const auto own = types.find(""); own != types.end() && has_value_info) {
    std::vector<std::string_view> names(std::as_const(function).input().begin(), std::as_const(function).input().end());
    AddOutputs(std::as_const(function).node(), names);
    ApplyToInfos(function.value_info(), {}, names,
                 [&](std::string_view name, TypeProto& type) { return TypeIn(own->second, name, type); });
  }
  ApplyToBodies(function.node(), {}, types);
}

}  // namespace

namespace onnx_optim {
namespace shapes {

void ApplyInferredShapesToGraph(const ShapesContext& ctx, GraphProto& graph) {
  Apply(graph, [&](std::string_view name, TypeProto& type) {
    const ShapeValue* value = ctx.Find(name);
    return value != nullptr && ToTypeProto(*value, type);
  });
}

void ApplyInferredShapesToModel(const ShapesContext& ctx, ModelProto& model) {
  if (!std::as_const(model).has_graph()) throw InvalidArgument("the model has no graph");
  ApplyInferredShapesToGraph(ctx, model.ref_graph());
}

void ShapesContext::ApplyInferredShapesToGraph(GraphProto& graph) const {
  shapes::ApplyInferredShapesToGraph(*this, graph);
}

void ShapesContext::ApplyInferredShapesToModel(ModelProto& model) const {
  shapes::ApplyInferredShapesToModel(*this, model);
}

void InferShapesModel(ModelProto& model) {
  ShapesContext ctx;
  InferenceRecord record;
  InferModel(ctx, model, &record);
  ApplyInferredShapesToGraph(ctx, model.ref_graph());
  for (const BodyRecord& body : record.bodies) {
    if (body.graph == nullptr) continue;
    // The model is the caller's to change, and the record's pointers lead into it.
    Apply(const_cast<GraphProto&>(*body.graph), [&](std::string_view name, TypeProto& type) {
      const auto it = body.values.find(std::string(name));
      return it != body.values.end() && ToTypeProto(it->second, type);
    });
  }
  // Functions have had types for their own values since IR version 10.
  const bool has_value_info = model.ir_version() >= 10;
  const FunctionTypes types = TypesOfFunctions(record);
  for (FunctionProto& function : model.functions()) {
    const auto it = types.find(FunctionKey(function.domain(), function.name(), function.overload()));
    if (it != types.end()) ApplyToFunction(function, it->second, has_value_info);
  }
}

}  // namespace shapes
}  // namespace onnx_optim

}  // namespace ONNX_LIGHT_NAMESPACE
