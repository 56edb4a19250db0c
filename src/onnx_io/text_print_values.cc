// SPDX-License-Identifier: Apache-2.0
// Types, tensors and attributes written in the ONNX text syntax.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>

#include "onnx_io/text_printer_impl.h"
#include "onnx_io/text_words.h"
#include "onnxseq/errors.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using A = AttributeProto;

bool IsDotted(std::string_view name) {
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
}

// Whether the syntax has words for the type.
bool CanSay(const TypeProto& type) {
  switch (type.value_case()) {
    case TypeProto::kTensorType:
      return ElementTypeName(type.tensor_type().elem_type()) != "undefined";
    case TypeProto::kSparseTensorType:
      return ElementTypeName(type.sparse_tensor_type().elem_type()) != "undefined";
    case TypeProto::kSequenceType:
      return CanSay(type.sequence_type().elem_type());
    case TypeProto::kOptionalType:
      return CanSay(type.optional_type().elem_type());
    case TypeProto::kMapType:
      return ElementTypeName(type.map_type().key_type()) != "undefined" && CanSay(type.map_type().value_type());
    case TypeProto::kOpaqueType:
      return IsDotted(type.opaque_type().domain()) && IsDotted(type.opaque_type().name());
    default:
      return false;
  }
}

// What the attribute holds; older files leave the type out.
int32_t TypeOf(const AttributeProto& attribute) {
  if (attribute.type() != A::UNDEFINED) return attribute.type();
  const std::pair<bool, int32_t> present[] = {{attribute.has_f(), A::FLOAT},
                                              {attribute.has_i(), A::INT},
                                              {attribute.has_s(), A::STRING},
                                              {attribute.has_t(), A::TENSOR},
                                              {attribute.has_g(), A::GRAPH},
                                              {attribute.has_tp(), A::TYPE_PROTO},
                                              {attribute.has_sparse_tensor(), A::SPARSE_TENSOR},
                                              {attribute.has_floats(), A::FLOATS},
                                              {attribute.has_ints(), A::INTS},
                                              {attribute.has_strings(), A::STRINGS},
                                              {attribute.has_tensors(), A::TENSORS},
                                              {attribute.has_graphs(), A::GRAPHS},
                                              {attribute.has_type_protos(), A::TYPE_PROTOS},
                                              {attribute.has_sparse_tensors(), A::SPARSE_TENSORS}};
  for (const auto& [there, type] : present)
    if (there) return type;
  return A::UNDEFINED;
}

// The shortest digits that read back as the same number; a NaN is its sign only, whatever the C library prints.
template <class T>
auto Real(T value) {
  return std::isnan(value) ? std::copysign(std::numeric_limits<T>::quiet_NaN(), value) : value;
}

// Body names as identifiers: the syntax allows no other where a value may stand.
std::string BodyName(std::string_view name) {
  std::string word(name);
  for (char& c : word)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))) c = '_';
  std::string lower = word;
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  const bool number = lower == "inf" || lower == "infinity" || lower == "nan";
  if (word.empty() || (word[0] >= '0' && word[0] <= '9') || number || IsTypeWord(word)) word.insert(0, 1, '_');
  return word;
}

}  // namespace

// Nothing for a type the syntax has no words for.
void TextPrinter::Type(const TypeProto& type) {
  if (!CanSay(type)) return;
  const auto element = [&](const auto& tensor) {
    out_ += ElementTypeName(tensor.elem_type());
    if (!tensor.has_shape()) {
      out_ += "[]";
      return;
    }
    if (tensor.shape().dim().empty()) return;
    Listed("[", tensor.shape().dim(), "]", [&](const TensorShapeProto::Dimension& dim) {
      if (dim.has_dim_value()) {
        Say("{}", dim.dim_value());
      } else if (dim.has_dim_param()) {
        Name(dim.dim_param());
      } else {
        out_ += '?';
      }
    });
  };
  switch (type.value_case()) {
    case TypeProto::kTensorType:
      return element(type.tensor_type());
    case TypeProto::kSparseTensorType:
      out_ += "sparse_tensor(";
      element(type.sparse_tensor_type());
      break;
    case TypeProto::kSequenceType:
      out_ += "seq(";
      Type(type.sequence_type().elem_type());
      break;
    case TypeProto::kOptionalType:
      out_ += "optional(";
      Type(type.optional_type().elem_type());
      break;
    case TypeProto::kMapType:
      Say("map({}, ", ElementTypeName(type.map_type().key_type()));
      Type(type.map_type().value_type());
      break;
    default:
      Say("opaque({}{}{}", type.opaque_type().domain().as_string(), type.opaque_type().domain().empty() ? "" : ", ",
          type.opaque_type().name().as_string());
  }
  out_ += ')';
}

void TextPrinter::Tensor(const TensorProto& tensor, bool in_attribute) {
  const std::string_view type = ElementTypeName(tensor.data_type());
  if (type == "undefined")
    throw Unsupported(fmt::format("has element type {}, which the text syntax has no word for", tensor.data_type()),
                      {.op_type = {},
                       .node_name = {},
                       .subject = fmt::format("tensor \"{}\"", tensor.name().as_string()),
                       .path = {}});
  out_ += type;
  if (!tensor.dims().empty()) Listed("[", tensor.dims(), "]", [&](int64_t dim) { Say("{}", dim); });
  const size_t start = out_.size();
  Name(tensor.name());
  if (in_attribute && out_[start] == '"') {
    out_.resize(start);
  } else {
    out_.insert(start, 1, ' ');
  }
  if (!in_attribute || tensor.data_location() == TensorProto::EXTERNAL) out_ += " =";
  out_ += ' ';
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    StringMap(tensor.external_data());
  } else {
    TensorValues(tensor);
  }
}

// The elements as numbers; floats narrower than 32 bits as the numbers their bits are.
void TextPrinter::TensorValues(const TensorProto& proto) {
  const ONNX_LIGHT_NAMESPACE::Tensor tensor = TensorFromProto(proto);
  const auto numbers = [&]<class T>(T) {
    const auto* data = static_cast<const T*>(tensor.data());
    Listed("{", std::span<const T>(data, tensor.ByteSize() / sizeof(T)), "}", [&](T value) {
      if constexpr (std::is_floating_point_v<T>) {
        Say("{}", Real(value));
      } else {
        Say("{}", value);
      }
    });
  };
  switch (tensor.dtype()) {
    case TensorType::kString:
      return Listed("{", tensor.View<std::string>(), "}", [&](const std::string& text) { Quoted(text); });
    case TensorType::kFloat:
    case TensorType::kComplex64:
      return numbers(float{});
    case TensorType::kDouble:
    case TensorType::kComplex128:
      return numbers(double{});
    case TensorType::kInt8:
      return numbers(int8_t{});
    case TensorType::kInt16:
      return numbers(int16_t{});
    case TensorType::kInt32:
      return numbers(int32_t{});
    case TensorType::kInt64:
      return numbers(int64_t{});
    case TensorType::kUint32:
      return numbers(uint32_t{});
    case TensorType::kUint64:
      return numbers(uint64_t{});
    default:
      break;
  }
  const int bits = onnx_optim::BitsOf(tensor.dtype());
  if (bits == 16) return numbers(uint16_t{});
  if (tensor.dtype() != TensorType::kInt4 && tensor.dtype() != TensorType::kInt2) return numbers(uint8_t{});
  const int sign = 1 << (bits - 1);
  const std::span codes(static_cast<const uint8_t*>(tensor.data()), tensor.ByteSize());
  Listed("{", codes, "}", [&](uint8_t code) { Say("{}", (code ^ sign) - sign); });
}

void TextPrinter::Attribute(const AttributeProto& attribute) {
  Identifier("the attribute", attribute.name());
  AttributeRest(attribute);
}

void TextPrinter::AttributeRest(const AttributeProto& attribute) {
  const int32_t type = TypeOf(attribute);
  if (type != A::UNDEFINED) Say(": {}", AttributeTypeName(type));
  out_ += " = ";
  if (attribute.ref_attr_name().empty()) return AttributeValue(attribute, type);
  out_ += '@';
  Name(attribute.ref_attr_name());
}

void TextPrinter::AttributeValue(const AttributeProto& attribute, int32_t type) {
  const auto fail = [&](std::string fact) {
    throw Unsupported(std::move(fact), {.op_type = {},
                                        .node_name = {},
                                        .subject = fmt::format("attribute '{}'", attribute.name().as_string()),
                                        .path = {}});
  };
  const auto graph = [&](const GraphProto& body) { Graph(body, BodyName(body.name())); };
  const auto tensor = [&](const TensorProto& value) { Tensor(value, true); };
  const auto real = [&](float value) { Say("{}", Real(value)); };
  const auto number = [&](int64_t value) { Say("{}", value); };
  const auto text = [&](std::string_view value) { Quoted(value); };
  const auto type_proto = [&](const TypeProto& value) {
    if (!CanSay(value)) fail("holds a type the text syntax has no words for");
    Type(value);
  };
  switch (type) {
    case A::FLOAT:
      return real(attribute.f());
    case A::INT:
      return number(attribute.i());
    case A::STRING:
      return text(attribute.s());
    case A::TENSOR:
      return tensor(attribute.t());
    case A::GRAPH:
      return graph(attribute.g());
    case A::TYPE_PROTO:
      return type_proto(attribute.tp());
    case A::FLOATS:
      return Listed("[", attribute.floats(), "]", real);
    case A::INTS:
      return Listed("[", attribute.ints(), "]", number);
    case A::STRINGS:
      return Listed("[", attribute.strings(), "]", text);
    case A::TENSORS:
      return Listed("[", attribute.tensors(), "]", tensor);
    case A::GRAPHS:
      return Listed("[", attribute.graphs(), "]", graph);
    case A::TYPE_PROTOS:
      return Listed("[", attribute.type_protos(), "]", type_proto);
    case A::UNDEFINED:
      return fail("has no value, which the text syntax cannot say");
    case A::SPARSE_TENSOR:
    case A::SPARSE_TENSORS:
      return fail("holds sparse tensors, which the text syntax does not have");
    default:
      return fail(fmt::format("has type {}, which the text syntax does not have", type));
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
