// SPDX-License-Identifier: Apache-2.0
// What every message does whatever its fields are: life, equality, oneofs. Made from fields.inc.
#include <memory>
#include <utility>

#include "model/access.h"

namespace ONNX_LIGHT_NAMESPACE {

#define ONNXSEQ_MESSAGE_BEGIN(M)                      \
  bool MessageAccess::Equal(const M& a, const M& b) { \
    return a.present_ == b.present_
#define ONNXSEQ_FIELD(M, label, kind, type, name, number) &&SameValue(a.field_##name, b.field_##name)
#define ONNXSEQ_ONEOF_FIELD(M, oneof, kind, type, name, number) \
  &&a.has_##name() == b.has_##name() && SameValue(a.field_##name, b.field_##name)
#define ONNXSEQ_MESSAGE_END(M)              \
  &&a.unknown_fields_ == b.unknown_fields_; \
  }
#include "onnx_proto/model/fields.inc"

// Assigning goes through a temporary: what is assigned may be a part of what it is assigned to.
#define ONNXSEQ_MESSAGE_BEGIN(M)                                                          \
  M::M() = default;                                                                       \
  M::M(const M& other) = default;                                                         \
  M::M(M&& other) noexcept = default;                                                     \
  M::~M() = default;                                                                      \
  M& M::operator=(const M& other) {                                                       \
    M copy(other);                                                                        \
    return *this = std::move(copy);                                                       \
  }                                                                                       \
  M& M::operator=(M&& other) noexcept {                                                   \
    M taken(std::move(other));                                                            \
    std::destroy_at(this);                                                                \
    return *std::construct_at(this, std::move(taken));                                    \
  }                                                                                       \
  bool M::operator==(const M& other) const { return MessageAccess::Equal(*this, other); } \
  const M& M::default_instance() { return MessageOps<M>::Default(); }                     \
  void M::Clear() { *this = M(); }                                                        \
  void M::CopyFrom(const M& other) { *this = other; }                                     \
  void M::Swap(M* other) noexcept { std::swap(*this, *other); }
#include "onnx_proto/model/fields.inc"

#define ONNXSEQ_ONEOF_BEGIN(M, oneof, Case) \
  void M::clear_##oneof() {                 \
    case_##oneof = 0;
#define ONNXSEQ_ONEOF_CASE(M, oneof, name, field, number) drop_##field();
#define ONNXSEQ_ONEOF_END(M, oneof, Case, not_set) }
#include "onnx_proto/model/fields.inc"

template <class M>
M* MessageOps<M>::New() {
  return new M();
}
template <class M>
M* MessageOps<M>::New(const M& other) {
  return new M(other);
}
template <class M>
M* MessageOps<M>::New(M&& other) {
  return new M(std::move(other));
}
template <class M>
void MessageOps<M>::Assign(M& to, const M& from) {
  to = from;
}
template <class M>
void MessageOps<M>::Delete(M* message) noexcept {
  delete message;
}
template <class M>
bool MessageOps<M>::Equal(const M& a, const M& b) {
  return a == b;
}
template <class M>
const M& MessageOps<M>::Default() {
  static const M& instance = *new M();  // never destroyed: others may look at it while the program ends
  return instance;
}

#define ONNXSEQ_MESSAGE_BEGIN(M) template struct MessageOps<M>;
#include "onnx_proto/model/fields.inc"

}  // namespace ONNX_LIGHT_NAMESPACE
