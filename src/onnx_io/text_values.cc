// SPDX-License-Identifier: Apache-2.0
// Types, tensors and attributes of the ONNX text syntax.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "onnx_io/text_parser_impl.h"
#include "onnx_io/text_words.h"
#include "onnx_optim/tensor_type.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// The numbers an element may be written as when it is held in int32_data or uint64_data; floats narrower than 32 bits
// are written as their bits.
struct Range {
  int64_t low, high;
};
Range RangeOf(int32_t data_type) {
  const auto whole = [](int bits) { return Range{-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1}; };
  const auto natural = [](int bits) { return Range{0, (int64_t{1} << bits) - 1}; };
  switch (data_type) {
    case TensorProto::BOOL:
      return natural(1);
    case TensorProto::INT2:
      return whole(2);
    case TensorProto::UINT2:
      return natural(2);
    case TensorProto::INT4:
      return whole(4);
    case TensorProto::UINT4:
    case TensorProto::FLOAT4E2M1:
      return natural(4);
    case TensorProto::FLOAT6E2M3:
    case TensorProto::FLOAT6E3M2:
      return natural(6);
    case TensorProto::INT8:
      return whole(8);
    case TensorProto::INT16:
      return whole(16);
    case TensorProto::UINT16:
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16:
      return natural(16);
    case TensorProto::INT32:
      return whole(32);
    case TensorProto::UINT32:
      return natural(32);
    default:
      return natural(8);  // uint8 and the 8-bit floats
  }
}

}  // namespace

// --- types and tensors ---

bool TextParser::IsType() { return IsTypeWord(in_.PeekIdentifier()); }

TypeProto TextParser::Type() {
  if (!IsType()) in_.Fail(fmt::format("expected a type, found {}", in_.NextWord()));
  return OneType();
}

TypeProto TextParser::OneType() {
  const Level level(*this);
  const size_t start = in_.at();
  const std::string_view word = in_.TryIdentifier();
  TypeProto type;
  if (const auto element = FindElementType(word)) {
    TypeProto::Tensor& tensor = type.ref_tensor_type();
    tensor.set_elem_type(*element);
    if (!in_.Match('[')) {
      tensor.ref_shape();
    } else if (!in_.Match(']')) {
      do {
        TensorShapeProto::Dimension& dim = *tensor.ref_shape().add_dim();
        if (in_.Match('?')) continue;
        if (std::optional<std::string> name = in_.TryName()) {
          dim.set_dim_param(*std::move(name));
        } else {
          dim.set_dim_value(in_.Integer());
        }
      } while (in_.Match(','));
      in_.Expect(']');
    }
    return type;
  }
  in_.Expect('(');
  if (word == "seq") {
    type.ref_sequence_type().ref_elem_type() = Type();
  } else if (word == "optional") {
    type.ref_optional_type().ref_elem_type() = Type();
  } else if (word == "map") {
    const size_t key_at = in_.at();
    const auto key = FindElementType(in_.TryIdentifier());
    if (!key) in_.Fail("expected an element type as the key of a map", key_at);
    in_.Expect(',');
    type.ref_map_type().set_key_type(*key);
    type.ref_map_type().ref_value_type() = Type();
  } else if (word == "sparse_tensor") {
    TypeProto dense = Type();
    if (!dense.has_tensor_type()) in_.Fail("a sparse_tensor holds a tensor type", start);
    TypeProto::SparseTensor& sparse = type.ref_sparse_tensor_type();
    sparse.set_elem_type(dense.tensor_type().elem_type());
    if (dense.tensor_type().has_shape()) sparse.set_shape(dense.tensor_type().shape());
  } else {  // opaque
    const auto dotted = [&] {
      std::string name(in_.TryIdentifier());
      while (in_.Match('.')) name.append(".").append(in_.Identifier("an identifier"));
      return name;
    };
    TypeProto::Opaque& opaque = type.ref_opaque_type();
    std::string name = dotted();
    if (in_.Match(',')) {
      opaque.set_domain(std::move(name));
      name = dotted();
    }
    if (!name.empty()) opaque.set_name(std::move(name));
  }
  in_.Expect(')');
  return type;
}

// The values of a tensor, `{1, 2}`, or where they are, `["location": "w.bin"]`.
void TextParser::TensorRest(const TypeProto& type, size_t type_at, TensorProto& tensor) {
  if (!type.has_tensor_type()) in_.Fail("only a tensor can have values", type_at);
  if (!type.tensor_type().has_shape()) in_.Fail("a tensor with values needs its shape", type_at);
  const int32_t data_type = type.tensor_type().elem_type();
  tensor.set_data_type(data_type);
  for (const TensorShapeProto::Dimension& dim : type.tensor_type().shape().dim()) {
    if (!dim.has_dim_value() || dim.dim_value() < 0) {
      in_.Fail("the dims of a tensor with values are integers, none negative", type_at);
    }
    tensor.add_dims(dim.dim_value());
  }
  if (in_.Match('[')) {
    tensor.set_data_location(TensorProto::EXTERNAL);
    return StringMap(*tensor.mutable_external_data());
  }
  in_.Expect('{');
  const auto in_range = [&](int64_t low, int64_t high) {
    const std::string_view word = in_.PeekIdentifier();
    if (data_type == TensorProto::BOOL && (word == "true" || word == "false"))
      return int64_t{in_.TryIdentifier() == "true"};
    const TextLexer::Number number = in_.ReadNumber();
    const int64_t value = in_.ToInteger(number);
    if (value < low || value > high) {
      in_.Fail(fmt::format("{} does not fit in {}", value, ElementTypeName(data_type)), number.start);
    }
    return value;
  };
  // Elements of less than a byte share one, the first in its low bits.
  const int bits = onnx_optim::BitsOf(onnx_optim::DataTypeToTensorType(data_type));
  const int per_byte = bits > 0 && bits < 8 ? 8 / bits : 1;
  const int mask = (1 << std::min(bits, 8)) - 1;
  int64_t count = 0;
  List('}', [&] {
    switch (data_type) {
      case TensorProto::FLOAT:
      case TensorProto::COMPLEX64:
        tensor.add_float_data(in_.ToReal<float>(in_.ReadNumber()));
        break;
      case TensorProto::DOUBLE:
      case TensorProto::COMPLEX128:
        tensor.add_double_data(in_.ToReal<double>(in_.ReadNumber()));
        break;
      case TensorProto::STRING:
        tensor.add_string_data(in_.StringLiteral());
        break;
      case TensorProto::INT64:
        tensor.add_int64_data(in_.Integer());
        break;
      case TensorProto::UINT64:
        tensor.add_uint64_data(in_.Natural());
        break;
      case TensorProto::UINT32: {
        const Range range = RangeOf(data_type);
        tensor.add_uint64_data(static_cast<uint64_t>(in_range(range.low, range.high)));
        break;
      }
      default: {
        const Range range = RangeOf(data_type);
        const auto value = static_cast<int32_t>(in_range(range.low, range.high));
        if (count++ % per_byte == 0) {
          tensor.add_int32_data(per_byte == 1 ? value : value & mask);
        } else {
          tensor.int32_data().back() |= (value & mask) << (count - 1) % per_byte * bits;
        }
      }
    }
  });
}

TensorProto TextParser::Tensor() {
  const size_t type_at = in_.at();
  const TypeProto type = Type();
  TensorProto tensor;
  TensorLiteral(type, type_at, tensor);
  return tensor;
}

// What follows the type: `{1, 2}`, `name {1, 2}` or `name = {1, 2}`.
void TextParser::TensorLiteral(const TypeProto& type, size_t type_at, TensorProto& tensor) {
  tensor.set_name(in_.TryName().value_or(""));
  in_.Match('=');
  TensorRest(type, type_at, tensor);
}

// --- attributes ---

// One value into the field of its type; returns that type. `expected` is 0 when any will do.
int32_t TextParser::OneValue(AttributeProto& attribute, int32_t expected, bool in_list) {
  const size_t start = in_.at();
  const auto take = [&](int32_t type) {
    if (expected != 0 && expected != type) {
      in_.Fail(fmt::format("expected a value of type {}, found one of type {}", AttributeTypeName(expected),
                           AttributeTypeName(type)),
               start);
    }
    return type;
  };
  if (in_.IsString()) {
    std::string text = in_.StringLiteral();
    take(AttributeProto::STRING);
    in_list ? void(attribute.add_strings(std::move(text))) : attribute.set_s(std::move(text));
    return AttributeProto::STRING;
  }
  if (in_.IsNumber()) {
    const TextLexer::Number number = in_.ReadNumber();
    if (number.is_integer && expected != AttributeProto::FLOAT) {
      take(AttributeProto::INT);
      in_list ? attribute.add_ints(in_.ToInteger(number)) : attribute.set_i(in_.ToInteger(number));
      return AttributeProto::INT;
    }
    take(AttributeProto::FLOAT);
    const auto value = in_.ToReal<float>(number);
    in_list ? attribute.add_floats(value) : attribute.set_f(value);
    return AttributeProto::FLOAT;
  }
  if (IsType()) {
    TypeProto type = OneType();
    const char next = in_.Peek();
    if (next != '{' && next != '=' && next != '"' && in_.PeekIdentifier().empty()) {
      take(AttributeProto::TYPE_PROTO);
      (in_list ? *attribute.add_type_protos() : attribute.ref_tp()) = std::move(type);
      return AttributeProto::TYPE_PROTO;
    }
    take(AttributeProto::TENSOR);
    TensorProto& tensor = in_list ? *attribute.add_tensors() : attribute.ref_t();
    TensorLiteral(type, start, tensor);
    return AttributeProto::TENSOR;
  }
  if (in_.PeekIdentifier().empty())
    in_.Fail(fmt::format("expected the value of an attribute, found {}", in_.NextWord()));
  take(AttributeProto::GRAPH);
  (in_list ? *attribute.add_graphs() : attribute.ref_g()) = Graph();
  return AttributeProto::GRAPH;
}

void TextParser::AttributeValue(AttributeProto& attribute, int32_t declared) {
  using A = AttributeProto;
  // Each list type with the type of its elements.
  static constexpr std::array<std::array<A::AttributeType, 2>, 7> kLists = {{{A::FLOATS, A::FLOAT},
                                                                             {A::INTS, A::INT},
                                                                             {A::STRINGS, A::STRING},
                                                                             {A::TENSORS, A::TENSOR},
                                                                             {A::GRAPHS, A::GRAPH},
                                                                             {A::SPARSE_TENSORS, A::SPARSE_TENSOR},
                                                                             {A::TYPE_PROTOS, A::TYPE_PROTO}}};
  if (declared != 0) attribute.set_type(static_cast<A::AttributeType>(declared));
  if (in_.Match('@')) return attribute.set_ref_attr_name(in_.Name("the name of an attribute of the function"));
  const size_t start = in_.at();
  int32_t element = 0;
  for (const auto& [list, of] : kLists)
    if (list == declared) element = of;
  if (!in_.Match('[')) {
    if (element != 0) in_.Fail(fmt::format("expected a list in [], found {}", in_.NextWord()));
    attribute.set_type(static_cast<A::AttributeType>(OneValue(attribute, declared, false)));
    return;
  }
  if (declared != 0 && element == 0) {
    in_.Fail(fmt::format("expected a value of type {}, found a list", AttributeTypeName(declared)), start);
  }
  List(']', [&] { element = OneValue(attribute, element, true); });
  if (element == 0) in_.Fail("an empty list needs the type of the attribute", start);
  for (const auto& [list, of] : kLists)
    if (of == element) attribute.set_type(list);
}

int32_t TextParser::AttributeType() {
  const size_t start = in_.at();
  const std::string_view word = in_.Identifier("an attribute type");
  const auto type = FindAttributeType(word);
  if (!type) in_.Fail(fmt::format("'{}' is no attribute type", word), start);
  return *type;
}

AttributeProto TextParser::Attribute() {
  AttributeProto attribute;
  attribute.set_name(in_.Identifier("the name of an attribute"));
  int32_t declared = 0;
  if (in_.Match(':')) declared = AttributeType();
  in_.Expect('=');
  AttributeValue(attribute, declared);
  return attribute;
}

void TextParser::Attributes(RepeatedMessages<AttributeProto>& attributes) {
  do attributes.push_back(Attribute());
  while (in_.Match(','));
  in_.Expect('>');
}

}  // namespace ONNX_LIGHT_NAMESPACE
