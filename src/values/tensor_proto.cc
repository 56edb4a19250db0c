// SPDX-License-Identifier: Apache-2.0
#include "values/tensor_proto.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using onnx_optim::BitsOf;

// Codes of fewer than 8 bits, one to a byte, from a stream of bits, the first in the lowest ones.
void Unpack(const char* packed, int bits, std::span<uint8_t> codes) {
  const auto* from = reinterpret_cast<const uint8_t*>(packed);
  unsigned held = 0;
  int count = 0;  // of bits in `held`
  for (uint8_t& code : codes) {
    if (count < bits) {
      held |= static_cast<unsigned>(*from++) << count;
      count += 8;
    }
    code = static_cast<uint8_t>(held & ((1u << bits) - 1));
    held >>= bits;
    count -= bits;
  }
}

// The stream, filled up with zeros to whole bytes.
std::string Packed(std::span<const uint8_t> codes, int bits) {
  std::string packed;
  packed.reserve(codes.size());
  unsigned held = 0;
  int count = 0;
  for (const uint8_t code : codes) {
    held |= (code & ((1u << bits) - 1)) << count;
    count += bits;
    if (count < 8) continue;
    packed.push_back(static_cast<char>(held & 0xff));
    held >>= 8;
    count -= 8;
  }
  if (count > 0) packed.push_back(static_cast<char>(held));
  return packed;
}

std::span<uint8_t> Codes(Tensor& tensor) {
  return {static_cast<uint8_t*>(tensor.mutable_data()), static_cast<size_t>(tensor.NumElements())};
}

// The typed fields of TensorProto, by what may lie in them.
enum class Field { kFloat, kInt32, kInt64, kDouble, kUint64, kString, kRaw };
constexpr std::string_view kFieldNames[] = {"float_data",  "int32_data",  "int64_data", "double_data",
                                            "uint64_data", "string_data", "raw_data"};
std::string_view NameOf(Field field) { return kFieldNames[static_cast<int>(field)]; }

Field TypedFieldOf(TensorType type) {
  switch (type) {
    case TensorType::kFloat:
    case TensorType::kComplex64:
      return Field::kFloat;
    case TensorType::kDouble:
    case TensorType::kComplex128:
      return Field::kDouble;
    case TensorType::kInt64:
      return Field::kInt64;
    case TensorType::kUint32:
    case TensorType::kUint64:
      return Field::kUint64;
    case TensorType::kString:
      return Field::kString;
    default:
      return Field::kInt32;
  }
}

class Reader {
 public:
  explicit Reader(const TensorProto& proto) : proto_(proto) {}

  Tensor Read() {
    CheckHeader();
    const Field* field = FindField();
    if (field == nullptr) {
      if (elements_ > 0)
        Fail(fmt::format("holds no data, {} has {} element{}", Describe(), elements_, elements_ == 1 ? "" : "s"));
      return Tensor(type_, shape_);
    }
    if (*field == Field::kRaw) return ReadRaw();
    if (*field != TypedFieldOf(type_))
      Fail(fmt::format("has its data in {}, {} keeps it in {} or raw_data", NameOf(*field),
                       onnx_optim::ToTypeString(type_), NameOf(TypedFieldOf(type_))));
    switch (*field) {
      case Field::kFloat:
        return ReadSame(proto_.float_data(), *field, type_ == TensorType::kComplex64 ? 2 : 1);
      case Field::kDouble:
        return ReadSame(proto_.double_data(), *field, type_ == TensorType::kComplex128 ? 2 : 1);
      case Field::kInt64:
        return ReadSame(proto_.int64_data(), *field, 1);
      case Field::kUint64:
        return type_ == TensorType::kUint64 ? ReadSame(proto_.uint64_data(), *field, 1)
                                            : ReadNarrowed<uint32_t>(proto_.uint64_data(), *field);
      case Field::kString:
        return ReadStrings();
      default:
        return ReadInt32();
    }
  }

 private:
  [[noreturn]] void Fail(std::string fact) const { throw InvalidArgument(std::move(fact), Where()); }
  ErrorWhere Where() const {
    return {
        .op_type = {}, .node_name = {}, .subject = fmt::format("tensor \"{}\"", proto_.name().as_string()), .path = {}};
  }
  std::string Describe() const { return onnx_optim::ToTypeString(type_) + shape_.ToString(); }

  void CheckHeader() {
    type_ = onnx_optim::DataTypeToTensorType(proto_.data_type());
    if (type_ == TensorType::kUndefined)
      Fail(proto_.data_type() == 0 ? std::string("has no element type")
                                   : fmt::format("has unknown element type {}", proto_.data_type()));
    shape_ = Shape(std::span<const int64_t>(proto_.dims().data(), proto_.dims().size()));
    for (const int64_t dim : shape_)
      if (dim < 0) Fail(fmt::format("has negative dim {} in {}", dim, shape_.ToString()));
    const auto elements = CheckedProduct(shape_.dims());
    const auto bits = elements ? CheckedMul(*elements, std::max(8, BitsOf(type_))) : std::nullopt;
    if (!bits) Fail(fmt::format("has dims {} whose size does not fit in 64 bits", shape_.ToString()));
    elements_ = *elements;
    if (proto_.has_segment()) throw Unsupported("is stored in segments", Where());
    if (proto_.data_location() == TensorProto::EXTERNAL)
      throw Unsupported(
          "has its data in an external file, which was not read: a model from memory needs the folder of it "
          "(data_folder)",
          Where());
  }

  // The one field that holds data; null when none does. Raw data counts as there when it has bytes.
  const Field* FindField() const {
    const std::pair<Field, bool> present[] = {
        {Field::kFloat, proto_.has_float_data()},   {Field::kInt32, proto_.has_int32_data()},
        {Field::kInt64, proto_.has_int64_data()},   {Field::kDouble, proto_.has_double_data()},
        {Field::kUint64, proto_.has_uint64_data()}, {Field::kString, proto_.has_string_data()},
        {Field::kRaw, !proto_.raw_data().empty()}};
    static constexpr Field kFields[] = {Field::kFloat,  Field::kInt32,  Field::kInt64, Field::kDouble,
                                        Field::kUint64, Field::kString, Field::kRaw};
    const Field* found = nullptr;
    for (const auto& [field, there] : present) {
      if (!there) continue;
      if (found != nullptr) Fail(fmt::format("has data in both {} and {}", NameOf(*found), NameOf(field)));
      found = &kFields[static_cast<int>(field)];
    }
    return found;
  }

  Tensor ReadRaw() const {
    if (type_ == TensorType::kString) Fail("has its data in raw_data, tensor(string) keeps it in string_data");
    const std::string_view raw = proto_.raw_data().view();
    const int64_t needed = *RawBytes(type_, elements_);
    if (static_cast<uint64_t>(needed) != raw.size())
      Fail(fmt::format("has {} bytes of raw_data, {} needs {}", raw.size(), Describe(), needed));
    if (type_ == TensorType::kBool)
      for (size_t i = 0; i < raw.size(); ++i) CheckBool(static_cast<uint8_t>(raw[i]), i);
    if (BitsOf(type_) < 8) {
      Tensor tensor(type_, shape_);
      Unpack(raw.data(), BitsOf(type_), Codes(tensor));
      return tensor;
    }
    const uintptr_t width = std::min<uintptr_t>(8, onnx_optim::BytesOf(type_));
    if (reinterpret_cast<uintptr_t>(raw.data()) % width == 0)
      return Tensor::Borrow(raw.data(), type_, shape_, proto_.raw_data().owner());
    Tensor tensor(type_, shape_);
    std::memcpy(tensor.mutable_data(), raw.data(), raw.size());
    return tensor;
  }

  // Numbers stored as themselves, `per_element` of them for each element.
  template <class T>
  Tensor ReadSame(const Repeated<T>& values, Field field, int64_t per_element) const {
    CheckCount(values.size(), elements_ * per_element, field);
    Tensor tensor(type_, shape_);
    std::memcpy(tensor.mutable_data(), values.data(), values.size() * sizeof(T));
    return tensor;
  }

  // Numbers stored in a wider type. Bit patterns (floats of 16 and 8 bits) are stored as unsigned numbers.
  template <class Narrow, class T>
  Tensor ReadNarrowed(const Repeated<T>& values, Field field) const {
    CheckCount(values.size(), elements_, field);
    for (size_t i = 0; i < values.size(); ++i)
      if (std::cmp_less(values[i], std::numeric_limits<Narrow>::min()) ||
          std::cmp_greater(values[i], std::numeric_limits<Narrow>::max()))
        Fail(fmt::format("has {} at {}[{}], which does not fit in {}", values[i], NameOf(field), i,
                         onnx_optim::TensorTypeName(type_)));
    Tensor tensor(type_, shape_);
    auto* to = static_cast<Narrow*>(tensor.mutable_data());
    for (size_t i = 0; i < values.size(); ++i) to[i] = static_cast<Narrow>(values[i]);
    return tensor;
  }

  Tensor ReadInt32() const {
    const auto& values = proto_.int32_data();
    switch (type_) {
      case TensorType::kInt32:
        return ReadSame(values, Field::kInt32, 1);
      case TensorType::kInt16:
        return ReadNarrowed<int16_t>(values, Field::kInt32);
      case TensorType::kInt8:
        return ReadNarrowed<int8_t>(values, Field::kInt32);
      case TensorType::kBool:
        for (size_t i = 0; i < values.size(); ++i) CheckBool(values[i], i);
        return ReadNarrowed<uint8_t>(values, Field::kInt32);
      default:
        break;
    }
    if (BitsOf(type_) == 16) return ReadNarrowed<uint16_t>(values, Field::kInt32);
    if (BitsOf(type_) == 8) return ReadNarrowed<uint8_t>(values, Field::kInt32);
    return ReadPacked();
  }

  // Types narrower than a byte: each number is one byte of the packed form, or one element of 6 bits; some writers
  // extend its sign.
  Tensor ReadPacked() const {
    const auto& values = proto_.int32_data();
    const bool alone = BitsOf(type_) == 6;
    CheckCount(values.size(), alone ? elements_ : *RawBytes(type_, elements_), Field::kInt32);
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i] < -128 || values[i] > 255)
        Fail(fmt::format("has {} at int32_data[{}], which does not fit in a byte of {}", values[i], i,
                         onnx_optim::TensorTypeName(type_)));
    std::string bytes;
    bytes.reserve(values.size());
    for (const int32_t value : values) bytes.push_back(static_cast<char>(alone ? value & 0x3f : value));
    Tensor tensor(type_, shape_);
    Unpack(bytes.data(), alone ? 8 : BitsOf(type_), Codes(tensor));
    return tensor;
  }

  Tensor ReadStrings() const {
    CheckCount(proto_.string_data().size(), elements_, Field::kString);
    Tensor tensor(type_, shape_);
    auto* to = static_cast<std::string*>(tensor.mutable_data());
    for (const Bytes& text : proto_.string_data()) *to++ = text.as_string();
    return tensor;
  }

  void CheckCount(size_t count, int64_t needed, Field field) const {
    if (static_cast<uint64_t>(needed) != count)
      Fail(fmt::format("has {} values in {}, {} needs {}", count, NameOf(field), Describe(), needed));
  }
  void CheckBool(int64_t value, size_t i) const {
    if (value != 0 && value != 1) Fail(fmt::format("has {} as bool element {}", value, i));
  }

  const TensorProto& proto_;
  TensorType type_ = TensorType::kUndefined;
  Shape shape_;
  int64_t elements_ = 0;
};

}  // namespace

std::optional<int64_t> RawBytes(TensorType type, int64_t elements) {
  const int bits = BitsOf(type);
  if (bits >= 8) return CheckedMul(elements, bits / 8);
  return elements / 8 * bits + (elements % 8 * bits + 7) / 8;
}

Tensor TensorFromProto(const TensorProto& proto) { return Reader(proto).Read(); }

TensorProto TensorToProto(const Tensor& tensor, std::string_view name) {
  if (!tensor.defined()) throw InvalidArgument("an undefined tensor cannot be written");
  TensorProto proto;
  if (!name.empty()) proto.set_name(String(name));
  proto.set_data_type(onnx_optim::TensorTypeToDataType(tensor.dtype()));
  for (const int64_t dim : tensor.shape()) proto.add_dims(dim);
  if (tensor.dtype() == TensorType::kString) {
    for (const std::string& text : tensor.View<std::string>()) proto.add_string_data(Bytes(text));
  } else if (const int bits = BitsOf(tensor.dtype()); bits < 8) {
    const std::span codes(static_cast<const uint8_t*>(tensor.data()), static_cast<size_t>(tensor.NumElements()));
    proto.set_raw_data(Packed(codes, bits));
  } else {
    proto.set_raw_data(tensor.data(), tensor.ByteSize());
  }
  return proto;
}

}  // namespace ONNX_LIGHT_NAMESPACE
