// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <atomic>
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

Sequence::Sequence(TensorType dtype) : dtype_(dtype) {}

Sequence::Sequence(TensorType dtype, std::vector<Tensor> elements) : dtype_(dtype) {
  if (dtype_ == TensorType::kUndefined && !elements.empty()) dtype_ = elements.front().dtype();
  for (size_t i = 0; i < elements.size(); ++i) CheckElement(dtype_, elements[i], static_cast<int64_t>(i));
  if (!elements.empty()) elements_ = std::make_shared<std::vector<Tensor>>(std::move(elements));
}

Sequence::Sequence(std::vector<Tensor> elements) : Sequence(TensorType::kUndefined, std::move(elements)) {}

int64_t Sequence::size() const { return elements_ == nullptr ? 0 : static_cast<int64_t>(elements_->size()); }

const Tensor& Sequence::operator[](int64_t i) const { return (*elements_)[static_cast<size_t>(i)]; }

std::span<const Tensor> Sequence::elements() const {
  return elements_ == nullptr ? std::span<const Tensor>() : std::span<const Tensor>(*elements_);
}

std::vector<Tensor>& Sequence::Unshared() {
  if (elements_ == nullptr) {
    elements_ = std::make_shared<std::vector<Tensor>>();
  } else if (elements_.use_count() != 1) {
    auto copy = std::make_shared<std::vector<Tensor>>();
    copy->reserve(elements_->size() + 1);
    copy->assign(elements_->begin(), elements_->end());
    elements_ = std::move(copy);
  } else {
    // The count is read relaxed: reads through handles that are gone happen before our changes.
    std::atomic_thread_fence(std::memory_order_acquire);
  }
  return *elements_;
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
