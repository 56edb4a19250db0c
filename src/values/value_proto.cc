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

// Runs `make`; what it says is about this value.
template <class Fn>
auto Named(std::string_view kind, const String& name, const Fn& make) {
  try {
    return make();
  } catch (const InvalidArgument& e) {
    throw InvalidArgument(e.fact(), Where(kind, name));
  }
}

template <class T>
Tensor NarrowKeys(const Repeated<int64_t>& keys) {
  Tensor narrow(kTensorTypeOf<T>, Shape{static_cast<int64_t>(keys.size())});
  T* out = narrow.MutableView<T>().data();
  for (const int64_t key : keys) {
    // The message holds the bits of unsigned 64-bit keys.
    if (sizeof(T) < sizeof(int64_t) && !std::in_range<T>(key))
      throw InvalidArgument(fmt::format("has key {}, which is no {}", key, onnx_optim::TensorTypeName(narrow.dtype())));
    *out++ = static_cast<T>(key);
  }
  return narrow;
}

Tensor KeysFromProto(const MapProto& proto) {
  const TensorType type = onnx_optim::DataTypeToTensorType(proto.key_type());
  const bool text = type == TensorType::kString;
  if (text ? !proto.keys().empty() : !proto.string_keys().empty())
    throw InvalidArgument(
        fmt::format("has {} keys, key type {}", text ? "integer" : "string", onnx_optim::TensorTypeName(type)));
  switch (type) {
    case TensorType::kString: {
      Tensor keys(type, Shape{static_cast<int64_t>(proto.string_keys().size())});
      std::string* out = keys.MutableView<std::string>().data();
      for (const auto& key : proto.string_keys()) *out++ = std::string(std::string_view(key));
      return keys;
    }
    case TensorType::kInt8:
      return NarrowKeys<int8_t>(proto.keys());
    case TensorType::kInt16:
      return NarrowKeys<int16_t>(proto.keys());
    case TensorType::kInt32:
      return NarrowKeys<int32_t>(proto.keys());
    case TensorType::kInt64:
      return NarrowKeys<int64_t>(proto.keys());
    case TensorType::kUint8:
      return NarrowKeys<uint8_t>(proto.keys());
    case TensorType::kUint16:
      return NarrowKeys<uint16_t>(proto.keys());
    case TensorType::kUint32:
      return NarrowKeys<uint32_t>(proto.keys());
    case TensorType::kUint64:
      return NarrowKeys<uint64_t>(proto.keys());
    default:
      break;
  }
  throw InvalidArgument(fmt::format("has key type {}", onnx_optim::TensorTypeName(type)));
}

template <class T>
void AddKeys(const Tensor& keys, MapProto& proto) {
  for (const T key : keys.View<T>()) proto.add_keys(static_cast<int64_t>(key));
}

void AddValue(const Value& value, SequenceProto& proto) {
  if (value.IsMap()) {
    proto.set_elem_type(SequenceProto::MAP);
    *proto.add_map_values() = MapToProto(value.map());
  } else {
    proto.set_elem_type(SequenceProto::SEQUENCE);
    *proto.add_sequence_values() = SequenceToProto(value.sequence());
  }
}

}  // namespace

Sequence SequenceFromProto(const SequenceProto& proto) {
  if (proto.has_sparse_tensor_values() || proto.has_optional_values())
    throw Unsupported("holds sparse tensors or optionals", Where("sequence", proto.name()));
  const bool tensors = proto.has_tensor_values(), sequences = proto.has_sequence_values(),
             maps = proto.has_map_values();
  const int32_t said = proto.elem_type();
  const auto other_than = [&](SequenceProto::DataType type) {
    return said != type && said != SequenceProto::UNDEFINED;
  };
  if ((tensors && (sequences || maps || other_than(SequenceProto::TENSOR))) ||
      (sequences && (maps || other_than(SequenceProto::SEQUENCE))) || (maps && other_than(SequenceProto::MAP)))
    throw InvalidArgument("holds elements of another kind than it says, or of several",
                          Where("sequence", proto.name()));
  if (sequences || maps) {
    std::vector<Value> elements;
    for (const SequenceProto& element : proto.sequence_values()) elements.emplace_back(SequenceFromProto(element));
    for (const MapProto& element : proto.map_values()) elements.emplace_back(MapFromProto(element));
    return Named("sequence", proto.name(), [&] { return Sequence::OfValues(std::move(elements)); });
  }
  std::vector<Tensor> elements;
  elements.reserve(proto.tensor_values().size());
  for (const TensorProto& element : proto.tensor_values()) elements.push_back(TensorFromProto(element));
  return Named("sequence", proto.name(), [&] { return Sequence(std::move(elements)); });
}

SequenceProto SequenceToProto(const Sequence& sequence, std::string_view name) {
  SequenceProto proto;
  if (!name.empty()) proto.set_name(String(name));
  if (sequence.HoldsTensors()) {
    proto.set_elem_type(SequenceProto::TENSOR);
    for (const Tensor& element : sequence.elements()) *proto.add_tensor_values() = TensorToProto(element);
  } else {
    for (int64_t i = 0; i < sequence.size(); ++i) AddValue(sequence.ValueAt(i), proto);
  }
  return proto;
}

Map MapFromProto(const MapProto& proto) {
  Sequence values = SequenceFromProto(proto.values());
  return Named("map", proto.name(), [&] { return Map(KeysFromProto(proto), std::move(values)); });
}

MapProto MapToProto(const Map& map, std::string_view name) {
  MapProto proto;
  if (!name.empty()) proto.set_name(String(name));
  const Tensor& keys = map.keys();
  proto.set_key_type(onnx_optim::TensorTypeToDataType(keys.dtype()));
  switch (keys.dtype()) {
    case TensorType::kInt8:
      AddKeys<int8_t>(keys, proto);
      break;
    case TensorType::kInt16:
      AddKeys<int16_t>(keys, proto);
      break;
    case TensorType::kInt32:
      AddKeys<int32_t>(keys, proto);
      break;
    case TensorType::kInt64:
      AddKeys<int64_t>(keys, proto);
      break;
    case TensorType::kUint8:
      AddKeys<uint8_t>(keys, proto);
      break;
    case TensorType::kUint16:
      AddKeys<uint16_t>(keys, proto);
      break;
    case TensorType::kUint32:
      AddKeys<uint32_t>(keys, proto);
      break;
    case TensorType::kUint64:
      AddKeys<uint64_t>(keys, proto);
      break;
    default:
      for (const std::string& key : keys.View<std::string>()) *proto.add_string_keys() = Bytes(key);
      break;
  }
  *proto.mutable_values() = SequenceToProto(map.values());
  return proto;
}

Value ValueFromProto(const OptionalProto& proto) {
  const bool tensor = proto.has_tensor_value(), sequence = proto.has_sequence_value(), map = proto.has_map_value();
  if (proto.has_sparse_tensor_value() || proto.has_optional_value())
    throw Unsupported("holds a sparse tensor or an optional", Where("optional", proto.name()));
  if (tensor + sequence + map > 1) throw InvalidArgument("holds more than one value", Where("optional", proto.name()));
  if (tensor) return TensorFromProto(proto.tensor_value());
  if (sequence) return SequenceFromProto(proto.sequence_value());
  if (map) return MapFromProto(proto.map_value());
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
  } else if (value.IsMap()) {
    proto.set_elem_type(OptionalProto::MAP);
    *proto.mutable_map_value() = MapToProto(value.map());
  }
  return proto;
}

}  // namespace ONNX_LIGHT_NAMESPACE
