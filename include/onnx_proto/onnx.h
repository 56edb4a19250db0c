// SPDX-License-Identifier: Apache-2.0
// model: the messages of the ONNX schema as plain values with the accessors protobuf users know, without protobuf.
// Before it: base. After it: onnx_io (files and text), openvino_io, graph and shapes, which read and build these
// messages.
//
// The classes come from model/fields.inc (every message, field, number) and model/accessors.h (what a kind of field
// offers). Copies are deep; a moved-from message may only be assigned or destroyed. Nothing throws on access: a const
// x() of an absent message gives the default instance, the non-const one creates it (and, in a oneof, drops the other
// alternative: ask has_x() first). x(i) is not checked. Concurrent reads are fine, writes need a message of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "onnx_proto/config.h"
#include "onnx_proto/containers.h"

namespace ONNX_LIGHT_NAMESPACE {

// Reads and writes the fields; the library's own.
struct MessageAccess;

#define ONNXSEQ_MESSAGE_BEGIN(M) class M;
#define ONNXSEQ_TOP_ENUM_BEGIN(E) enum E : int {
#define ONNXSEQ_TOP_ENUM_VALUE(E, name, number) name = number,
#define ONNXSEQ_TOP_ENUM_END(E) \
  }                             \
  ;
#include "onnx_proto/model/accessors.h"
#include "onnx_proto/model/fields.inc"

#define ONNXSEQ_MESSAGE_BEGIN(M)                                                                                  \
  class ONNXSEQ_API M {                                                                                           \
   public:                                                                                                        \
    M();                                                                                                          \
    M(const M& other);                                                                                            \
    M(M&& other) noexcept;                                                                                        \
    M& operator=(const M& other);                                                                                 \
    M& operator=(M&& other) noexcept;                                                                             \
    ~M();                                                                                                         \
    /* Every field, presence and unknown field alike; floats by their bits. */                                    \
    bool operator==(const M& other) const;                                                                        \
    static const M& default_instance();                                                                           \
    void Clear();                                                                                                 \
    void CopyFrom(const M& other);                                                                                \
    void Swap(M* other) noexcept;                                                                                 \
    /* Replaces the content by what the wire bytes say; true, or throws ModelParseError and leaves it cleared. */ \
    bool ParseFromString(std::string_view bytes);                                                                 \
    bool ParseFromArray(const void* data, size_t size);                                                           \
    /* The wire bytes, fields in the order of their numbers, unknown ones last; always true. */                   \
    bool SerializeToString(std::string& out) const;                                                               \
    bool SerializeToString(std::string* out) const;                                                               \
    std::string SerializeAsString() const;                                                                        \
    /* Fields this schema does not know, as they stood in the file. */                                            \
    const std::string& unknown_fields() const { return unknown_fields_; }                                         \
                                                                                                                  \
   private:                                                                                                       \
    friend struct MessageAccess;                                                                                  \
    std::string unknown_fields_;                                                                                  \
    uint32_t present_ = 0;                                                                                        \
                                                                                                                  \
   public:
#define ONNXSEQ_MESSAGE_END(M) \
  }                            \
  ;
#define ONNXSEQ_NESTED(M, Name, Flat) using Name = Flat;
#define ONNXSEQ_ENUM_BEGIN(M, E) enum E : int {
#define ONNXSEQ_ENUM_VALUE(M, E, name, number) name = number,
#define ONNXSEQ_ENUM_END(M, E) \
  }                            \
  ;
#define ONNXSEQ_ONEOF_BEGIN(M, oneof, Case) \
  void clear_##oneof();                     \
  enum Case : int {
#define ONNXSEQ_ONEOF_CASE(M, oneof, name, field, number) name = number,
#define ONNXSEQ_ONEOF_END(M, oneof, Case, not_set)                      \
  not_set = 0                                                           \
  }                                                                     \
  ;                                                                     \
  Case oneof##_case() const { return static_cast<Case>(case_##oneof); } \
                                                                        \
 private:                                                               \
  int case_##oneof = 0;                                                 \
                                                                        \
 public:
#define ONNXSEQ_FIELD(M, label, kind, type, name, number) ONNXSEQ_FIELD_##label(M, kind, type, name, number)
#define ONNXSEQ_FIELD_OPTIONAL(M, kind, type, name, number) ONNXSEQ_SINGULAR_##kind(M, type, name, number)
#define ONNXSEQ_FIELD_REPEATED(M, kind, type, name, number) ONNXSEQ_REPEATED_##kind(M, type, name)
#define ONNXSEQ_FIELD_PACKED(M, kind, type, name, number) ONNXSEQ_REPEATED_##kind(M, type, name)
#define ONNXSEQ_ONEOF_FIELD(M, oneof, kind, type, name, number) ONNXSEQ_ONEOF_##kind(M, oneof, type, name, number)
#include "onnx_proto/model/fields.inc"

#undef ONNXSEQ_SINGULAR_COMMON
#undef ONNXSEQ_SINGULAR_SCALAR
#undef ONNXSEQ_SINGULAR_INT32
#undef ONNXSEQ_SINGULAR_INT64
#undef ONNXSEQ_SINGULAR_UINT64
#undef ONNXSEQ_SINGULAR_FLOAT
#undef ONNXSEQ_SINGULAR_DOUBLE
#undef ONNXSEQ_SINGULAR_ENUM
#undef ONNXSEQ_SINGULAR_TEXT
#undef ONNXSEQ_SINGULAR_STRING
#undef ONNXSEQ_SINGULAR_BYTES
#undef ONNXSEQ_SINGULAR_MESSAGE
#undef ONNXSEQ_REPEATED_COMMON
#undef ONNXSEQ_REPEATED_SCALAR
#undef ONNXSEQ_REPEATED_INT32
#undef ONNXSEQ_REPEATED_INT64
#undef ONNXSEQ_REPEATED_UINT64
#undef ONNXSEQ_REPEATED_FLOAT
#undef ONNXSEQ_REPEATED_DOUBLE
#undef ONNXSEQ_REPEATED_TEXT
#undef ONNXSEQ_REPEATED_STRING
#undef ONNXSEQ_REPEATED_BYTES
#undef ONNXSEQ_REPEATED_MESSAGE
#undef ONNXSEQ_ONEOF_COMMON
#undef ONNXSEQ_ONEOF_INT64
#undef ONNXSEQ_ONEOF_STRING
#undef ONNXSEQ_ONEOF_MESSAGE
#undef ONNXSEQ_FIELD_OPTIONAL
#undef ONNXSEQ_FIELD_REPEATED
#undef ONNXSEQ_FIELD_PACKED

// The flat spelling of enums: TensorProto_DataType_FLOAT.
#define ONNXSEQ_ENUM_BEGIN(M, E) using M##_##E = M::E;
#define ONNXSEQ_ENUM_VALUE(M, E, name, number) inline constexpr M::E M##_##E##_##name = M::name;
#include "onnx_proto/model/fields.inc"

}  // namespace ONNX_LIGHT_NAMESPACE
