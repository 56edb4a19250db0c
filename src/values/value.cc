// SPDX-License-Identifier: Apache-2.0
#include "onnxseq/value.h"

#include <fmt/format.h>

#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

[[noreturn]] void FailKind(std::string_view wanted, const Value& value) {
  throw InvalidArgument(fmt::format("expected a {}, got {}", wanted, value.TypeString()));
}

}  // namespace

const Tensor& Value::tensor() const {
  if (const auto* held = std::get_if<Tensor>(&held_)) return *held;
  FailKind("tensor", *this);
}
const Sequence& Value::sequence() const {
  if (const auto* held = std::get_if<Sequence>(&held_)) return *held;
  FailKind("sequence", *this);
}
Tensor& Value::mutable_tensor() {
  if (auto* held = std::get_if<Tensor>(&held_)) return *held;
  FailKind("tensor", *this);
}
Sequence& Value::mutable_sequence() {
  if (auto* held = std::get_if<Sequence>(&held_)) return *held;
  FailKind("sequence", *this);
}

std::string Value::TypeString() const {
  if (IsTensor()) return tensor().TypeString();
  if (IsSequence()) return sequence().TypeString();
  return "nothing";
}

}  // namespace ONNX_LIGHT_NAMESPACE
