// SPDX-License-Identifier: Apache-2.0
// Writing in two passes, made from fields.inc: sizes of all inner messages first, in the order they will be met, then
// the bytes into a string of the exact size.
#include <bit>
#include <type_traits>

#include "model/access.h"
#include "model/wire.h"

namespace ONNX_LIGHT_NAMESPACE {

// Where the bytes go: `at` runs through a buffer that the sizes made large enough.
class WireWriter {
 public:
  WireWriter(char* at, const MessageAccess::Sizes& sizes) : at_(at), next_size_(sizes.data()) {}
  uint64_t NextSize() { return *next_size_++; }
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) *at_++ = static_cast<char>(value | 0x80);
    *at_++ = static_cast<char>(value);
  }
  void Raw(const void* data, size_t size) {
    if (size != 0) std::memcpy(at_, data, size);
    at_ += size;
  }
  void Tag(uint32_t field, WireType type) { Varint(uint64_t{field} << 3 | static_cast<uint32_t>(type)); }

 private:
  char* at_;
  const uint64_t* next_size_;
};

namespace {

uint64_t VarintSize(uint64_t value) { return (static_cast<uint64_t>(std::bit_width(value | 1)) + 6) / 7; }
uint64_t TagSize(uint32_t field) { return VarintSize(uint64_t{field} << 3); }

template <class T>
concept Number = std::is_arithmetic_v<T> || std::is_enum_v<T>;

// Negative numbers are written in 64 bits whatever their type.
template <Number T>
uint64_t AsVarint(T value) {
  return static_cast<uint64_t>(static_cast<int64_t>(value));
}

template <Number T>
constexpr WireType TypeOf() {
  return std::is_same_v<T, float>    ? WireType::kFixed32
         : std::is_same_v<T, double> ? WireType::kFixed64
                                     : WireType::kVarint;
}

template <Number T>
uint64_t ValueSize(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return sizeof(T);
  else
    return VarintSize(AsVarint(value));
}
template <Number T>
void WriteValue(T value, WireWriter& out) {
  if constexpr (std::is_floating_point_v<T>)
    out.Raw(&value, sizeof(T));
  else
    out.Varint(AsVarint(value));
}

// --- sizes of whole fields ---

template <Number T>
uint64_t FieldSize(uint32_t field, T value, MessageAccess::Sizes&) {
  return TagSize(field) + ValueSize(value);
}
inline uint64_t FieldSize(uint32_t field, std::string_view text, MessageAccess::Sizes&) {
  return TagSize(field) + VarintSize(text.size()) + text.size();
}
template <class M>
  requires(!Number<M> && !std::is_convertible_v<const M&, std::string_view>)
uint64_t FieldSize(uint32_t field, const M& message, MessageAccess::Sizes& sizes) {
  const size_t slot = sizes.size();
  sizes.push_back(0);
  const uint64_t size = MessageAccess::Size(message, sizes);
  sizes[slot] = size;
  return TagSize(field) + VarintSize(size) + size;
}
template <class Container>
uint64_t RepeatedSize(uint32_t field, const Container& values, MessageAccess::Sizes& sizes) {
  uint64_t size = 0;
  for (const auto& value : values) size += FieldSize(field, value, sizes);
  return size;
}
template <class T>
uint64_t PackedSize(uint32_t field, const Repeated<T>& values, MessageAccess::Sizes& sizes) {
  if (values.empty()) return 0;
  uint64_t size = 0;
  for (const T& value : values) size += ValueSize(value);
  sizes.push_back(size);
  return TagSize(field) + VarintSize(size) + size;
}

// --- whole fields ---

template <Number T>
void WriteField(uint32_t field, T value, WireWriter& out) {
  out.Tag(field, TypeOf<T>());
  WriteValue(value, out);
}
inline void WriteField(uint32_t field, std::string_view text, WireWriter& out) {
  out.Tag(field, WireType::kBytes);
  out.Varint(text.size());
  out.Raw(text.data(), text.size());
}
template <class M>
  requires(!Number<M> && !std::is_convertible_v<const M&, std::string_view>)
void WriteField(uint32_t field, const M& message, WireWriter& out) {
  out.Tag(field, WireType::kBytes);
  out.Varint(out.NextSize());
  MessageAccess::Write(message, out);
}
template <class Container>
void WriteRepeated(uint32_t field, const Container& values, WireWriter& out) {
  for (const auto& value : values) WriteField(field, value, out);
}
template <class T>
void WritePacked(uint32_t field, const Repeated<T>& values, WireWriter& out) {
  if (values.empty()) return;
  out.Tag(field, WireType::kBytes);
  out.Varint(out.NextSize());
  for (const T& value : values) WriteValue(value, out);
}

}  // namespace

#define ONNXSEQ_MESSAGE_BEGIN(M)                                            \
  uint64_t MessageAccess::Size(const M& m, [[maybe_unused]] Sizes& sizes) { \
    uint64_t size = m.unknown_fields_.size();
#define ONNXSEQ_MESSAGE_END(M) \
  return size;                 \
  }
#define ONNXSEQ_FIELD(M, label, kind, type, name, number) ONNXSEQ_SIZE_##label(name, number)
#define ONNXSEQ_ONEOF_FIELD(M, oneof, kind, type, name, number) ONNXSEQ_SIZE_OPTIONAL(name, number)
#define ONNXSEQ_SIZE_OPTIONAL(name, number) \
  if (m.has_##name()) size += FieldSize(number, m.ref_##name(), sizes);
#define ONNXSEQ_SIZE_REPEATED(name, number) size += RepeatedSize(number, m.ref_##name(), sizes);
#define ONNXSEQ_SIZE_PACKED(name, number) size += PackedSize(number, m.ref_##name(), sizes);
#include "onnx_proto/model/fields.inc"

#define ONNXSEQ_MESSAGE_BEGIN(M) void MessageAccess::Write(const M& m, WireWriter& out) {
#define ONNXSEQ_MESSAGE_END(M)                                 \
  out.Raw(m.unknown_fields_.data(), m.unknown_fields_.size()); \
  }
#define ONNXSEQ_FIELD(M, label, kind, type, name, number) ONNXSEQ_WRITE_##label(name, number)
#define ONNXSEQ_ONEOF_FIELD(M, oneof, kind, type, name, number) ONNXSEQ_WRITE_OPTIONAL(name, number)
#define ONNXSEQ_WRITE_OPTIONAL(name, number) \
  if (m.has_##name()) WriteField(number, m.ref_##name(), out);
#define ONNXSEQ_WRITE_REPEATED(name, number) WriteRepeated(number, m.ref_##name(), out);
#define ONNXSEQ_WRITE_PACKED(name, number) WritePacked(number, m.ref_##name(), out);
#include "onnx_proto/model/fields.inc"

template <class M>
std::string SerializeWire(const M& message) {
  MessageAccess::Sizes sizes;
  std::string bytes(MessageAccess::Size(message, sizes), '\0');
  WireWriter out(bytes.data(), sizes);
  MessageAccess::Write(message, out);
  return bytes;
}

template <class M>
uint64_t WireSize(const M& message) {
  MessageAccess::Sizes sizes;
  return MessageAccess::Size(message, sizes);
}

#define ONNXSEQ_MESSAGE_BEGIN(M)                                            \
  template std::string SerializeWire<M>(const M& message);                  \
  template uint64_t WireSize<M>(const M& message);                          \
  std::string M::SerializeAsString() const { return SerializeWire(*this); } \
  bool M::SerializeToString(std::string& out) const {                       \
    out = SerializeWire(*this);                                             \
    return true;                                                            \
  }                                                                         \
  bool M::SerializeToString(std::string* out) const { return SerializeToString(*out); }
#include "onnx_proto/model/fields.inc"

}  // namespace ONNX_LIGHT_NAMESPACE
