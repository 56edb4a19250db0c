// SPDX-License-Identifier: Apache-2.0
// Reading, one function per message, made from fields.inc. Each field reader answers whether the wire type was one it
// takes; when it was not, the field is kept as unknown.
#include <type_traits>

#include "model/access.h"
#include "model/wire.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using Tag = WireReader::Tag;

template <class T>
constexpr WireType WireTypeOf() {
  if constexpr (std::is_same_v<T, float>) {
    return WireType::kFixed32;
  } else if constexpr (std::is_same_v<T, double>) {
    return WireType::kFixed64;
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    return WireType::kVarint;
  } else {
    return WireType::kBytes;
  }
}

template <class T>
T ReadValue(WireReader& in) {
  if constexpr (std::is_floating_point_v<T>) {
    return in.ReadFixed<T>();
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<T>(static_cast<int32_t>(in.ReadVarint()));
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(in.ReadVarint());
  } else if constexpr (std::is_same_v<T, Bytes>) {
    return in.ReadSharedBytes();
  } else {
    return T(in.ReadBytes());
  }
}

// One value into what `slot()` gives, which is asked for only once the value is there.
template <class T, class Slot>
bool ReadSingular(WireReader& in, const Tag& tag, const char* name, Slot slot) {
  if (tag.type != WireTypeOf<T>()) return false;
  const WireReader::Naming naming(in, name, -1);
  slot() = ReadValue<T>(in);
  return true;
}

template <class M, class Slot>
bool ReadSingularMessage(WireReader& in, const Tag& tag, const char* name, Slot slot) {
  if (tag.type != WireType::kBytes) return false;
  in.Inside(name, -1, [&] { MessageAccess::Read(slot(), in); });
  return true;
}

template <class T>
bool ReadRepeated(WireReader& in, const Tag& tag, const char* name, Repeated<T>& field) {
  const auto index = static_cast<int64_t>(field.size());
  if (tag.type == WireTypeOf<T>()) {
    const WireReader::Naming naming(in, name, index);
    field.push_back(ReadValue<T>(in));
    return true;
  }
  if constexpr (WireTypeOf<T>() == WireType::kBytes) {
    return false;
  } else {
    if (tag.type != WireType::kBytes) return false;
    in.Inside(name, index, [&] {
      if (std::is_floating_point_v<T> && field.empty()) field.reserve(in.left() / sizeof(T));
      while (!in.AtEnd()) field.push_back(ReadValue<T>(in));
    });
    return true;
  }
}

template <class M>
bool ReadRepeatedMessage(WireReader& in, const Tag& tag, const char* name, RepeatedMessages<M>& field) {
  if (tag.type != WireType::kBytes) return false;
  in.Inside(name, static_cast<int64_t>(field.size()), [&] { MessageAccess::Read(field.add(), in); });
  return true;
}

}  // namespace

#define ONNXSEQ_MESSAGE_BEGIN(M)                   \
  void MessageAccess::Read(M& m, WireReader& in) { \
    while (!in.AtEnd()) {                          \
      const Tag tag = in.ReadTag();                \
      bool known = false;                          \
      switch (tag.field) {
#define ONNXSEQ_MESSAGE_END(M)                     \
  default:                                         \
    break;                                         \
    }                                              \
    if (!known) m.unknown_fields_ += in.Skip(tag); \
    }                                              \
    }
#define ONNXSEQ_FIELD(M, label, kind, type, name, number) \
  case number:                                            \
    known = ONNXSEQ_READ_##label(kind, name);             \
    break;
#define ONNXSEQ_ONEOF_FIELD(M, oneof, kind, type, name, number) \
  case number:                                                  \
    known = ONNXSEQ_READ_OPTIONAL(kind, name);                  \
    break;
#define ONNXSEQ_READ_OPTIONAL(kind, name) ONNXSEQ_READ_ONE_##kind(name)
#define ONNXSEQ_READ_REPEATED(kind, name) ONNXSEQ_READ_MANY_##kind(name)
#define ONNXSEQ_READ_PACKED(kind, name) ONNXSEQ_READ_MANY_##kind(name)
#define ONNXSEQ_READ_ONE_VALUE(name)                                           \
  (ReadSingular<std::remove_cvref_t<decltype(m.ref_##name())>>(in, tag, #name, \
                                                               [&]() -> auto& { return m.ref_##name(); }))
#define ONNXSEQ_READ_ONE_INT32 ONNXSEQ_READ_ONE_VALUE
#define ONNXSEQ_READ_ONE_INT64 ONNXSEQ_READ_ONE_VALUE
#define ONNXSEQ_READ_ONE_UINT64 ONNXSEQ_READ_ONE_VALUE
#define ONNXSEQ_READ_ONE_FLOAT ONNXSEQ_READ_ONE_VALUE
#define ONNXSEQ_READ_ONE_DOUBLE ONNXSEQ_READ_ONE_VALUE
#define ONNXSEQ_READ_ONE_ENUM ONNXSEQ_READ_ONE_VALUE
#define ONNXSEQ_READ_ONE_STRING ONNXSEQ_READ_ONE_VALUE
#define ONNXSEQ_READ_ONE_BYTES ONNXSEQ_READ_ONE_VALUE
#define ONNXSEQ_READ_ONE_MESSAGE(name)                                                \
  (ReadSingularMessage<std::remove_cvref_t<decltype(m.ref_##name())>>(in, tag, #name, \
                                                                      [&]() -> auto& { return m.ref_##name(); }))
#define ONNXSEQ_READ_MANY_INT32(name) ReadRepeated(in, tag, #name, m.ref_##name())
#define ONNXSEQ_READ_MANY_INT64 ONNXSEQ_READ_MANY_INT32
#define ONNXSEQ_READ_MANY_UINT64 ONNXSEQ_READ_MANY_INT32
#define ONNXSEQ_READ_MANY_FLOAT ONNXSEQ_READ_MANY_INT32
#define ONNXSEQ_READ_MANY_DOUBLE ONNXSEQ_READ_MANY_INT32
#define ONNXSEQ_READ_MANY_STRING ONNXSEQ_READ_MANY_INT32
#define ONNXSEQ_READ_MANY_BYTES ONNXSEQ_READ_MANY_INT32
#define ONNXSEQ_READ_MANY_MESSAGE(name) ReadRepeatedMessage(in, tag, #name, m.ref_##name())
#include "onnx_proto/model/fields.inc"

template <class M>
M ParseWire(std::string_view bytes, std::shared_ptr<const void> owner) {
  M message;
  WireReader in(bytes, std::move(owner));
  MessageAccess::Read(message, in);
  return message;
}

#define ONNXSEQ_MESSAGE_BEGIN(M)                                                      \
  template M ParseWire<M>(std::string_view bytes, std::shared_ptr<const void> owner); \
  bool M::ParseFromString(std::string_view bytes) {                                   \
    Clear();                                                                          \
    *this = ParseWire<M>(bytes, nullptr);                                             \
    return true;                                                                      \
  }                                                                                   \
  bool M::ParseFromArray(const void* data, size_t size) {                             \
    return ParseFromString({static_cast<const char*>(data), size});                   \
  }
#include "onnx_proto/model/fields.inc"

}  // namespace ONNX_LIGHT_NAMESPACE
