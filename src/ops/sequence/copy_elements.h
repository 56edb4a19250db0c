// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {

// Copies `count` consecutive elements; both tensors have the same element type, and the ranges lie inside them. `to` is
// writable.
void CopyElements(Tensor& to, int64_t to_first, const Tensor& from, int64_t from_first, int64_t count);

// Elements number(0), number(1), ..., number(count - 1) of the sequence, of which there are some, one after the other
// as one tensor of this shape: no copy where they lie so in memory, as parts of one tensor do. Undefined where they do
// not, and for strings.
template <class Number>
Tensor JoinInPlace(const Sequence& sequence, int64_t count, Number number, const Shape& shape) {
  if (sequence.dtype() == TensorType::kString) return {};
  const void* const first = sequence[number(0)].data();
  const auto* next = static_cast<const std::byte*>(first);
  for (int64_t i = 0; i < count; ++i) {
    const Tensor& element = sequence[number(i)];
    if (element.data() != next) return {};
    next += element.ByteSize();
  }
  return Tensor::Borrow(first, sequence.dtype(), shape, Owner([kept = sequence] {}));
}

}  // namespace ONNX_LIGHT_NAMESPACE
