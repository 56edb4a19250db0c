// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "onnxseq/errors.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

ErrorWhere Where(std::string_view kind, const std::string& name) {
  return {.op_type = {}, .node_name = {}, .subject = fmt::format("{} \"{}\"", kind, name), .path = {}};
}

}  // namespace

Sequence SequenceFromProto(const SequenceProto& proto) {
  if (proto.has_sparse_tensor_values() || proto.has_sequence_values() || proto.has_map_values() ||
      proto.has_optional_values() ||
      (proto.elem_type() != SequenceProto::UNDEFINED && proto.elem_type() != SequenceProto::TENSOR))
    throw Unsupported("holds elements that are no tensors", Where("sequence", proto.name()));
  std::vector<Tensor> elements;
  elements.reserve(proto.tensor_values().size());
  for (const TensorProto& element : proto.tensor_values()) elements.push_back(TensorFromProto(element));
  try {
    return Sequence(std::move(elements));
  } catch (const InvalidArgument& e) {
    throw InvalidArgument(e.fact(), Where("sequence", proto.name()));
  }
}

SequenceProto SequenceToProto(const Sequence& sequence, std::string_view name) {
  SequenceProto proto;
  if (!name.empty()) proto.set_name(String(name));
  proto.set_elem_type(SequenceProto::TENSOR);
  for (const Tensor& element : sequence.elements()) *proto.add_tensor_values() = TensorToProto(element);
  return proto;
}

Value ValueFromProto(const OptionalProto& proto) {
  const bool tensor = proto.has_tensor_value();
  const bool sequence = proto.has_sequence_value();
  if (proto.has_sparse_tensor_value() || proto.has_map_value() || proto.has_optional_value())
    throw Unsupported("holds neither a tensor nor a sequence", Where("optional", proto.name()));
  if (tensor && sequence) throw InvalidArgument("holds both a tensor and a sequence", Where("optional", proto.name()));
  if (tensor) return TensorFromProto(proto.tensor_value());
  if (sequence) return SequenceFromProto(proto.sequence_value());
  return {};
}

OptionalProto OptionalToProto(const Value& value, std::string_view name) {
  OptionalProto proto;
  if (!name.empty()) proto.set_name(String(name));
  if (value.IsTensor()) {
    proto.set_elem_type(OptionalProto::TENSOR);
    *proto.mutable_tensor_value() = TensorToProto(value.tensor());
  } else if (value.IsSequence()) {
    proto.set_elem_type(OptionalProto::SEQUENCE);
    *proto.mutable_sequence_value() = SequenceToProto(value.sequence());
  }
  return proto;
}

}  // namespace ONNX_LIGHT_NAMESPACE
