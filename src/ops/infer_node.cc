// SPDX-License-Identifier: Apache-2.0
#include "ops/infer_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "onnxseq/errors.h"
#include "onnxseq/value.h"
#include "ops/known_values.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {

using onnx_optim::TensorTypeName;

namespace {

[[noreturn]] void FailNode(const NodeProto& node, std::string subject, std::string fact) {
  throw InvalidArgument(std::move(fact), ErrorWhere{.op_type = node.op_type().as_string(),
                                                    .node_name = node.name().as_string(),
                                                    .subject = std::move(subject),
                                                    .path = {}});
}

// Throws when the attribute, which is there, is of another kind.
void CheckKind(const NodeAttributes& attributes, const AttrDef& def) {
  switch (def.kind) {
    case AttrKind::kInt:
      static_cast<void>(attributes.Int(def.name));
      break;
    case AttrKind::kFloat:
      static_cast<void>(attributes.Float(def.name, 0));
      break;
    case AttrKind::kString:
      static_cast<void>(attributes.String(def.name, {}));
      break;
    case AttrKind::kInts:
      static_cast<void>(attributes.FindInts(def.name));
      break;
    case AttrKind::kFloats:
      static_cast<void>(attributes.Floats(def.name));
      break;
    case AttrKind::kStrings:
      static_cast<void>(attributes.Strings(def.name));
      break;
    case AttrKind::kTensor:
      static_cast<void>(attributes.FindTensor(def.name));
      break;
    case AttrKind::kGraph:
      static_cast<void>(attributes.Graph(def.name));
      break;
    case AttrKind::kSparseTensor:
      if (!attributes.Find(def.name)->has_sparse_tensor()) {
        FailAttribute(def.name, "must be a sparse tensor");
      }
      break;
    case AttrKind::kType:
      if (!attributes.Find(def.name)->has_tp()) {
        FailAttribute(def.name, "must be a type");
      }
      break;
  }
}

// The formal that stands for the i-th input, null past the last one.
const Formal* FormalAt(const std::vector<Formal>& formals, size_t i) {
  if (i < formals.size()) return &formals[i];
  return !formals.empty() && formals.back().count == FormalCount::kVariadic ? &formals.back() : nullptr;
}

void CheckCounts(const NodeProto& node, const std::vector<Formal>& formals, const Repeated<String>& names,
                 std::string_view what) {
  const bool variadic = !formals.empty() && formals.back().count == FormalCount::kVariadic;
  if (!variadic && names.size() > formals.size()) {
    FailNode(node, {}, fmt::format("takes at most {} {}s, got {}", formals.size(), what, names.size()));
  }
  for (size_t i = 0; i < formals.size(); ++i) {
    const Formal& formal = formals[i];
    const std::string subject = fmt::format("{} {} '{}'", what, i, formal.name);
    if (formal.count == FormalCount::kOne && (i >= names.size() || (what == "input" && names[i].empty()))) {
      FailNode(node, subject, "is required");
    }
    if (formal.count == FormalCount::kVariadic) {
      const int64_t count = std::max<int64_t>(0, static_cast<int64_t>(names.size()) - static_cast<int64_t>(i));
      if (count < formal.min_count)
        FailNode(node, subject, fmt::format("needs at least {}, got {}", formal.min_count, count));
    }
  }
}

}  // namespace

FormalNameLists::FormalNameLists(const OpDef& op) {
  for (const Formal& formal : op.inputs) inputs_.push_back(formal.name);
  for (const Formal& formal : op.outputs) outputs_.push_back(formal.name);
}

void CheckNode(const OpDef& op, const NodeProto& node) {
  CheckCounts(node, op.inputs, node.input(), "input");
  CheckCounts(node, op.outputs, node.output(), "output");
  const NodeAttributes attributes(node);
  for (const AttrDef& def : op.attributes) {
    if (!attributes.Has(def.name)) {
      if (def.required) FailNode(node, fmt::format("attribute '{}'", def.name), "is required");
      continue;
    }
    try {
      CheckKind(attributes, def);
    } catch (Error& e) {
      e.AddNode(node.op_type(), node.name());
      throw;
    }
  }
}

std::vector<std::string> UnknownAttributes(const OpDef& op, const NodeProto& node) {
  std::vector<std::string> unknown;
  for (const AttributeProto& attribute : node.attribute()) {
    const auto is_it = [&](const AttrDef& def) { return attribute.name() == def.name; };
    if (std::none_of(op.attributes.begin(), op.attributes.end(), is_it)) unknown.push_back(attribute.name());
  }
  return unknown;
}

void CheckInputTypes(const OpDef& op, const InferScope& scope) {
  std::map<std::string_view, int> first_of_variable;
  for (int i = 0; i < scope.input_size(); ++i) {
    const Formal* formal = FormalAt(op.inputs, static_cast<size_t>(i));
    if (formal == nullptr || !scope.HasInput(i)) continue;
    const ShapeValue& value = formal->kind == FormalKind::kSequence ? scope.SequenceInput(i) : scope.Input(i);
    const auto type_of = [](const ShapeValue& v) {
      return v.IsSequence() ? v.SequenceOf().ElemDtype() : v.IsMap() ? v.Elem().Dtype() : v.Dtype();
    };
    if (value.IsUnknown()) continue;
    if (formal->kind == FormalKind::kTensor && !value.IsTensor() && !value.IsSparse()) {
      scope.Fail(scope.InputSubject(i), fmt::format("must be a tensor, got {}", InferScope::Describe(value)));
    }
    if (formal->kind == FormalKind::kSequence && !value.IsSequence()) {
      scope.Fail(scope.InputSubject(i), fmt::format("must be a sequence, got {}", InferScope::Describe(value)));
    }
    const bool nested = value.IsSequence() && (value.SequenceOf().elem.IsMap() || value.SequenceOf().elem.IsSequence());
    if (formal->kind == FormalKind::kSequence && nested) {
      scope.Fail(scope.InputSubject(i),
                 fmt::format("must be a sequence of tensors, got {}", InferScope::Describe(value)));
    }
    if (formal->kind == FormalKind::kMap && !value.IsMap()) {
      scope.Fail(scope.InputSubject(i), fmt::format("must be a map, got {}", InferScope::Describe(value)));
    }
    if (formal->kind == FormalKind::kTensorOrSequence && ((!value.IsTensor() && !value.IsSequence()) || nested)) {
      scope.Fail(scope.InputSubject(i),
                 fmt::format("must be a tensor or a sequence, got {}", InferScope::Describe(value)));
    }
    const TensorType type = type_of(value);
    if (type == TensorType::kUndefined || (!value.IsTensor() && !value.IsSequence() && !value.IsMap())) continue;
    if (!formal->types.Has(type)) {
      scope.Fail(scope.InputSubject(i),
                 fmt::format("cannot have {} of type {}", value.IsMap() ? "values" : "elements", TensorTypeName(type)));
    }
    if (formal->type_var.empty()) continue;
    const auto [it, is_first] = first_of_variable.try_emplace(formal->type_var, i);
    if (is_first) continue;
    const Formal* other = FormalAt(op.inputs, static_cast<size_t>(it->second));
    const ShapeValue& first =
        other->kind == FormalKind::kSequence ? scope.SequenceInput(it->second) : scope.Input(it->second);
    if (type_of(first) != type) {
      scope.Fail(scope.InputSubject(i),
                 fmt::format("must have the element type of {}, {}, got {}", scope.InputSubject(it->second),
                             TensorTypeName(type_of(first)), TensorTypeName(type)));
    }
  }
}

std::string_view BodyAttributeName(const NodeProto& node, const GraphProto& body) {
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g() && &attribute.g() == &body) return attribute.name();
    for (const GraphProto& graph : attribute.graphs()) {
      if (&graph == &body) return attribute.name();
    }
  }
  return {};
}

std::string BodyPlace(const NodeProto& node, const GraphProto& body, std::string_view run_name, int64_t number) {
  std::string place = fmt::format("in body '{}' of {}",
                                  body.name().empty() ? BodyAttributeName(node, body) : std::string_view(body.name()),
                                  std::string_view(node.op_type()));
  if (!node.name().empty()) place += fmt::format(" \"{}\"", std::string_view(node.name()));
  if (number >= 0) place += fmt::format(", {} {}", run_name, number);
  return place;
}

std::string NodePathName(const NodeProto& node, int64_t index) {
  return node.name().empty() ? fmt::format("{}_{}", std::string_view(node.op_type()), index) : node.name().as_string();
}

ShapeValue ConstantShapeValue(const TensorProto& tensor) {
  const TensorType dtype = onnx_optim::DataTypeToTensorType(tensor.data_type());
  std::vector<OptimDim> dims;
  int64_t count = 1;
  constexpr auto kMax = static_cast<int64_t>(ShapeValue::kMaxKnownElements);
  for (const int64_t dim : tensor.dims()) {
    if (dim < 0) {
      throw InvalidArgument(fmt::format("has a negative dim, {}", dim),
                            ErrorWhere{.op_type = {},
                                       .node_name = {},
                                       .subject = fmt::format("tensor \"{}\"", std::string_view(tensor.name())),
                                       .path = {}});
    }
    dims.emplace_back(dim);
    count = dim == 0 ? 0 : std::min(count, kMax + 1) * std::min(dim, kMax + 1);
  }
  if (dims.size() > OptimShape::kMaxRank) return ShapeValue::Tensor(dtype, OptimShape::Unknown());
  OptimShape shape(std::move(dims));
  const bool wanted = onnx_optim::IsIntegerTensorType(dtype) || dtype == TensorType::kBool ||
                      dtype == TensorType::kFloat || dtype == TensorType::kDouble;
  if (!wanted || count > kMax || tensor.data_location() == TensorProto::EXTERNAL || onnx_optim::BitsOf(dtype) < 8) {
    return ShapeValue::Tensor(dtype, std::move(shape));
  }
  return KnownTensor(TensorFromProto(tensor));
}

// Functions ---------------------------------------------------------------------------------------

namespace {

using AttributeMap = std::unordered_map<std::string, const AttributeProto*>;
using NameSet = std::unordered_set<std::string>;

// Deep enough for any real model; a body nested deeper keeps its references, which then fail as missing attributes.
constexpr int kMaxBodyDepth = 64;

void ResolveNode(NodeProto& node, const AttributeMap& attributes, const NameSet& absent, int depth);

void ResolveGraph(GraphProto& graph, const AttributeMap& attributes, const NameSet& absent, int depth) {
  if (depth > kMaxBodyDepth) return;
  for (NodeProto& node : graph.node()) ResolveNode(node, attributes, absent, depth);
}

void ResolveNode(NodeProto& node, const AttributeMap& attributes, const NameSet& absent, int depth) {
  for (String& input : node.input()) {
    if (!input.empty() && absent.contains(input)) input.clear();
  }
  auto& list = node.attribute();
  for (size_t i = 0; i < list.size();) {
    AttributeProto& attribute = list[i];
    if (!attribute.ref_attr_name().empty()) {
      const auto it = attributes.find(attribute.ref_attr_name());
      if (it == attributes.end()) {
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      AttributeProto resolved(*it->second);
      resolved.set_name(attribute.name());
      attribute = std::move(resolved);
    } else if (attribute.has_g()) {
      ResolveGraph(attribute.ref_g(), attributes, absent, depth + 1);
    } else {
      for (GraphProto& graph : attribute.graphs()) ResolveGraph(graph, attributes, absent, depth + 1);
    }
    ++i;
  }
}

}  // namespace

GraphProto InstantiateFunction(const FunctionProto& function, const NodeProto& node) {
  if (node.input_size() > function.input_size()) {
    FailNode(node, {}, fmt::format("takes at most {} inputs, got {}", function.input_size(), node.input_size()));
  }
  if (node.output_size() > function.output_size()) {
    FailNode(node, {}, fmt::format("takes at most {} outputs, got {}", function.output_size(), node.output_size()));
  }
  GraphProto body;
  body.set_name(function.name());
  NameSet absent;
  for (size_t i = 0; i < function.input().size(); ++i) {
    body.add_input()->set_name(function.input(i));
    if (i >= node.input().size() || node.input(i).empty()) absent.insert(function.input(i));
  }
  for (const String& output : function.output()) body.add_output()->set_name(output);
  AttributeMap attributes;
  for (const AttributeProto& attribute : function.attribute_proto()) attributes[attribute.name()] = &attribute;
  for (const AttributeProto& attribute : node.attribute()) attributes[attribute.name()] = &attribute;
  for (const NodeProto& inner : function.node()) {
    body.node().push_back(inner);
    ResolveNode(body.node().back(), attributes, absent, 0);
  }
  return body;
}

}  // namespace ONNX_LIGHT_NAMESPACE
