// SPDX-License-Identifier: Apache-2.0
#include "graph/node_attributes.h"

#include <fmt/format.h>

#include <utility>

#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string_view TypeText(AttributeProto::AttributeType type) {
  switch (type) {
    case AttributeProto::FLOAT:
      return "a float";
    case AttributeProto::INT:
      return "an int";
    case AttributeProto::STRING:
      return "a string";
    case AttributeProto::TENSOR:
      return "a tensor";
    case AttributeProto::GRAPH:
      return "a graph";
    case AttributeProto::FLOATS:
      return "floats";
    case AttributeProto::INTS:
      return "ints";
    case AttributeProto::STRINGS:
      return "strings";
    case AttributeProto::TENSORS:
      return "tensors";
    case AttributeProto::GRAPHS:
      return "graphs";
    case AttributeProto::SPARSE_TENSOR:
      return "a sparse tensor";
    case AttributeProto::SPARSE_TENSORS:
      return "sparse tensors";
    case AttributeProto::TYPE_PROTO:
      return "a type";
    case AttributeProto::TYPE_PROTOS:
      return "types";
    default:
      return "of no type";
  }
}

// Files of IR versions 1 and 2 leave the type out: it is that of the field that is set.
AttributeProto::AttributeType TypeOf(const AttributeProto& attribute) {
  if (attribute.type() != AttributeProto::UNDEFINED) return attribute.type();
  if (attribute.has_f()) return AttributeProto::FLOAT;
  if (attribute.has_i()) return AttributeProto::INT;
  if (attribute.has_s()) return AttributeProto::STRING;
  if (attribute.has_t()) return AttributeProto::TENSOR;
  if (attribute.has_g()) return AttributeProto::GRAPH;
  if (attribute.has_floats()) return AttributeProto::FLOATS;
  if (attribute.has_ints()) return AttributeProto::INTS;
  if (attribute.has_strings()) return AttributeProto::STRINGS;
  if (attribute.has_tensors()) return AttributeProto::TENSORS;
  if (attribute.has_graphs()) return AttributeProto::GRAPHS;
  if (attribute.has_tp()) return AttributeProto::TYPE_PROTO;
  if (attribute.has_sparse_tensor()) return AttributeProto::SPARSE_TENSOR;
  return AttributeProto::UNDEFINED;
}

}  // namespace

void FailAttribute(std::string_view name, std::string fact) {
  throw InvalidArgument(
      std::move(fact),
      ErrorWhere{.op_type = {}, .node_name = {}, .subject = fmt::format("attribute '{}'", name), .path = {}});
}

const AttributeProto* NodeAttributes::Find(std::string_view name) const {
  for (const AttributeProto& attribute : node_->attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

const AttributeProto* NodeAttributes::FindTyped(std::string_view name, AttributeProto::AttributeType type) const {
  const AttributeProto* attribute = Find(name);
  if (attribute == nullptr) return nullptr;
  const AttributeProto::AttributeType found = TypeOf(*attribute);
  // An empty list in a file without types has no field to tell by.
  const bool untyped_list =
      found == AttributeProto::UNDEFINED &&
      (type == AttributeProto::INTS || type == AttributeProto::FLOATS || type == AttributeProto::STRINGS);
  if (found != type && !untyped_list)
    FailAttribute(name, fmt::format("must be {}, is {}", TypeText(type), TypeText(found)));
  return attribute;
}

const AttributeProto& NodeAttributes::Required(std::string_view name, AttributeProto::AttributeType type) const {
  const AttributeProto* attribute = FindTyped(name, type);
  if (attribute == nullptr) FailAttribute(name, "is missing");
  return *attribute;
}

int64_t NodeAttributes::Int(std::string_view name) const { return Required(name, AttributeProto::INT).i(); }

int64_t NodeAttributes::Int(std::string_view name, int64_t absent) const {
  const AttributeProto* attribute = FindTyped(name, AttributeProto::INT);
  return attribute == nullptr ? absent : attribute->i();
}

float NodeAttributes::Float(std::string_view name, float absent) const {
  const AttributeProto* attribute = FindTyped(name, AttributeProto::FLOAT);
  return attribute == nullptr ? absent : attribute->f();
}

std::string NodeAttributes::String(std::string_view name, std::string_view absent) const {
  const AttributeProto* attribute = FindTyped(name, AttributeProto::STRING);
  return attribute == nullptr ? std::string(absent) : attribute->s().as_string();
}

std::vector<int64_t> NodeAttributes::Ints(std::string_view name) const {
  const AttributeProto* attribute = FindTyped(name, AttributeProto::INTS);
  return attribute == nullptr ? std::vector<int64_t>() : std::vector<int64_t>(attribute->ints());
}

std::optional<std::vector<int64_t>> NodeAttributes::FindInts(std::string_view name) const {
  const AttributeProto* attribute = FindTyped(name, AttributeProto::INTS);
  if (attribute == nullptr) return std::nullopt;
  return std::vector<int64_t>(attribute->ints());
}

std::vector<float> NodeAttributes::Floats(std::string_view name) const {
  const AttributeProto* attribute = FindTyped(name, AttributeProto::FLOATS);
  return attribute == nullptr ? std::vector<float>() : std::vector<float>(attribute->floats());
}

std::vector<std::string> NodeAttributes::Strings(std::string_view name) const {
  const AttributeProto* attribute = FindTyped(name, AttributeProto::STRINGS);
  std::vector<std::string> strings;
  if (attribute == nullptr) return strings;
  strings.reserve(attribute->strings().size());
  for (const Bytes& text : attribute->strings()) strings.push_back(text.as_string());
  return strings;
}

const GraphProto& NodeAttributes::Graph(std::string_view name) const {
  return Required(name, AttributeProto::GRAPH).g();
}

const TensorProto* NodeAttributes::FindTensor(std::string_view name) const {
  const AttributeProto* attribute = FindTyped(name, AttributeProto::TENSOR);
  return attribute == nullptr ? nullptr : &attribute->t();
}

}  // namespace ONNX_LIGHT_NAMESPACE
