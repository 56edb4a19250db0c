// SPDX-License-Identifier: Apache-2.0
#include "onnxseq/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

[[noreturn]] void FailKind(std::string_view wanted, const Value& value) {
  throw InvalidArgument(fmt::format("expected a {}, got {}", wanted, value.TypeString()));
}

bool IsBorrowed(const Tensor& tensor) { return tensor.IsBorrowed(); }

// The same sequence when nothing in it was lent.
Sequence Copied(const Sequence& sequence) {
  if (!sequence.HoldsTensors()) {
    std::vector<Value> copies;
    for (int64_t i = 0; i < sequence.size(); ++i) copies.push_back(sequence.ValueAt(i));
    for (Value& copy : copies) copy.CopyBorrowed();
    return Sequence::OfValues(std::move(copies));
  }
  const auto elements = sequence.elements();
  if (std::ranges::none_of(elements, IsBorrowed)) return sequence;
  std::vector<Tensor> copies(elements.begin(), elements.end());
  for (Tensor& copy : copies)
    if (copy.IsBorrowed()) copy.Unshare();
  return Sequence(sequence.dtype(), std::move(copies));
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
const Map& Value::map() const {
  if (const auto* held = std::get_if<Map>(&held_)) return *held;
  FailKind("map", *this);
}
Tensor& Value::mutable_tensor() {
  if (auto* held = std::get_if<Tensor>(&held_)) return *held;
  FailKind("tensor", *this);
}
Sequence& Value::mutable_sequence() {
  if (auto* held = std::get_if<Sequence>(&held_)) return *held;
  FailKind("sequence", *this);
}

void Value::CopyBorrowed() {
  if (IsTensor()) {
    if (tensor().IsBorrowed()) mutable_tensor().Unshare();
  } else if (IsSequence()) {
    *this = Copied(sequence());
  } else if (IsMap()) {
    Tensor keys = map().keys();
    if (keys.IsBorrowed()) keys.Unshare();
    *this = Map(std::move(keys), Copied(map().values()));
  }
}

std::string Value::TypeName() const {
  if (IsTensor()) return onnx_optim::ToTypeString(tensor().dtype());
  if (IsSequence()) return sequence().TypeName();
  if (IsMap()) return map().TypeName();
  return "nothing";
}

std::string Value::TypeString() const {
  if (IsTensor()) return tensor().TypeString();
  if (IsSequence()) return sequence().TypeString();
  if (IsMap()) return map().TypeString();
  return "nothing";
}

}  // namespace ONNX_LIGHT_NAMESPACE
