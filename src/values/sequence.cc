// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "onnxseq/errors.h"
#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void CheckElement(TensorType dtype, const Tensor& element, int64_t position) {
  if (!element.defined()) throw InvalidArgument(fmt::format("element {} of a sequence is undefined", position));
  if (dtype == element.dtype()) return;
  throw InvalidArgument(fmt::format("element {} is {}, expected {}", position,
                                    onnx_optim::ToTypeString(element.dtype()), onnx_optim::ToTypeString(dtype)));
}

// As far as both are known: an empty sequence may not say what it would hold.
bool SameType(const Value& a, const Value& b) {
  if (a.IsTensor() && b.IsTensor()) return a.tensor().dtype() == b.tensor().dtype();
  const auto same_elements = [](const Sequence& x, const Sequence& y) {
    if (!x.empty() && !y.empty()) return SameType(x.ValueAt(0), y.ValueAt(0));
    return x.dtype() == y.dtype() || x.dtype() == TensorType::kUndefined || y.dtype() == TensorType::kUndefined;
  };
  if (a.IsSequence() && b.IsSequence()) return same_elements(a.sequence(), b.sequence());
  return a.IsMap() && b.IsMap() && a.map().key_type() == b.map().key_type() &&
         same_elements(a.map().values(), b.map().values());
}

}  // namespace

struct Sequence::List : Counted {
  explicit List(std::vector<Tensor> tensors_in) : Counted(Destroy), tensors(std::move(tensors_in)) {}
  explicit List(std::vector<Value> others_in) : Counted(Destroy), others(std::move(others_in)) {}
  static void Destroy(Counted* self) noexcept { delete static_cast<List*>(self); }
  // One of them is empty.
  std::vector<Tensor> tensors;
  std::vector<Value> others;
};

Sequence::Sequence(TensorType dtype) : dtype_(dtype) {}

Sequence::Sequence(TensorType dtype, std::vector<Tensor> elements) : dtype_(dtype) {
  if (dtype_ == TensorType::kUndefined && !elements.empty()) dtype_ = elements.front().dtype();
  for (size_t i = 0; i < elements.size(); ++i) CheckElement(dtype_, elements[i], static_cast<int64_t>(i));
  if (!elements.empty()) elements_ = Counted::Handle(new List(std::move(elements)));
}

Sequence::Sequence(std::vector<Tensor> elements) : Sequence(TensorType::kUndefined, std::move(elements)) {}

Sequence Sequence::OfValues(std::vector<Value> elements) {
  for (size_t i = 0; i < elements.size(); ++i) {
    if (elements[i].IsNone()) throw InvalidArgument(fmt::format("element {} of a sequence is nothing", i));
    if (!SameType(elements[0], elements[i]))
      throw InvalidArgument(
          fmt::format("element {} is {}, expected {}", i, elements[i].TypeName(), elements[0].TypeName()));
  }
  Sequence sequence;
  if (elements.empty()) return sequence;
  if (!elements[0].IsTensor()) {
    sequence.elements_ = Counted::Handle(new List(std::move(elements)));
    return sequence;
  }
  std::vector<Tensor> tensors;
  tensors.reserve(elements.size());
  for (Value& element : elements) tensors.push_back(std::move(element.mutable_tensor()));
  return Sequence(std::move(tensors));
}

const Sequence::List* Sequence::list() const { return static_cast<const List*>(elements_.get()); }

bool Sequence::HoldsTensors() const { return list() == nullptr || list()->others.empty(); }

int64_t Sequence::size() const {
  return list() == nullptr ? 0 : static_cast<int64_t>(list()->tensors.size() + list()->others.size());
}

const Tensor& Sequence::operator[](int64_t i) const { return elements()[static_cast<size_t>(i)]; }

std::span<const Tensor> Sequence::elements() const {
  if (list() == nullptr) return {};
  if (!list()->others.empty()) throw InvalidArgument(fmt::format("expected a sequence of tensors, got {}", TypeName()));
  return list()->tensors;
}

Value Sequence::ValueAt(int64_t i) const {
  const auto at = static_cast<size_t>(i);
  return HoldsTensors() ? Value(list()->tensors[at]) : list()->others[at];
}

std::vector<Tensor>& Sequence::Unshared() {
  const std::span<const Tensor> before = elements();
  if (!elements_.IsOnly()) {
    std::vector<Tensor> copy;
    copy.reserve(before.size() + 1);
    copy.assign(before.begin(), before.end());
    elements_ = Counted::Handle(new List(std::move(copy)));
  }
  return static_cast<List*>(elements_.get())->tensors;
}

void Sequence::Insert(int64_t position, Tensor element) {
  if (dtype_ == TensorType::kUndefined && empty()) dtype_ = element.dtype();
  if (HoldsTensors()) CheckElement(dtype_, element, position);
  std::vector<Tensor>& list = Unshared();
  list.insert(list.begin() + position, std::move(element));
}

void Sequence::Erase(int64_t position) {
  std::vector<Tensor>& list = Unshared();
  list.erase(list.begin() + position);
}

std::string Sequence::TypeName() const {
  return fmt::format("seq({})", HoldsTensors() ? onnx_optim::ToTypeString(dtype_) : ValueAt(0).TypeName());
}

std::string Sequence::TypeString() const {
  return fmt::format("{}, {} element{}", TypeName(), size(), size() == 1 ? "" : "s");
}

}  // namespace ONNX_LIGHT_NAMESPACE
