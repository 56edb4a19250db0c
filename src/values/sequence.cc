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

}  // namespace

struct Sequence::List : Counted {
  explicit List(std::vector<Tensor> list_in) : Counted(Destroy), list(std::move(list_in)) {}
  static void Destroy(Counted* self) noexcept { delete static_cast<List*>(self); }
  std::vector<Tensor> list;
};

Sequence::Sequence(TensorType dtype) : dtype_(dtype) {}

Sequence::Sequence(TensorType dtype, std::vector<Tensor> elements) : dtype_(dtype) {
  if (dtype_ == TensorType::kUndefined && !elements.empty()) dtype_ = elements.front().dtype();
  for (size_t i = 0; i < elements.size(); ++i) CheckElement(dtype_, elements[i], static_cast<int64_t>(i));
  if (!elements.empty()) elements_ = Counted::Handle(new List(std::move(elements)));
}

Sequence::Sequence(std::vector<Tensor> elements) : Sequence(TensorType::kUndefined, std::move(elements)) {}

const std::vector<Tensor>* Sequence::list() const {
  return elements_.get() == nullptr ? nullptr : &static_cast<const List*>(elements_.get())->list;
}

int64_t Sequence::size() const { return list() == nullptr ? 0 : static_cast<int64_t>(list()->size()); }

const Tensor& Sequence::operator[](int64_t i) const { return (*list())[static_cast<size_t>(i)]; }

std::span<const Tensor> Sequence::elements() const {
  return list() == nullptr ? std::span<const Tensor>() : std::span<const Tensor>(*list());
}

std::vector<Tensor>& Sequence::Unshared() {
  if (!elements_.IsOnly()) {
    std::vector<Tensor> copy;
    if (list() != nullptr) {
      copy.reserve(list()->size() + 1);
      copy.assign(list()->begin(), list()->end());
    }
    elements_ = Counted::Handle(new List(std::move(copy)));
  }
  return static_cast<List*>(elements_.get())->list;
}

void Sequence::Insert(int64_t position, Tensor element) {
  if (dtype_ == TensorType::kUndefined && empty()) dtype_ = element.dtype();
  CheckElement(dtype_, element, position);
  std::vector<Tensor>& list = Unshared();
  list.insert(list.begin() + position, std::move(element));
}

void Sequence::Erase(int64_t position) {
  std::vector<Tensor>& list = Unshared();
  list.erase(list.begin() + position);
}

std::string Sequence::TypeString() const {
  return fmt::format("seq({}), {} element{}", onnx_optim::ToTypeString(dtype_), size(), size() == 1 ? "" : "s");
}

}  // namespace ONNX_LIGHT_NAMESPACE
