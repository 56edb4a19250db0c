// SPDX-License-Identifier: Apache-2.0
#include "elements.h"

#include <cstddef>
#include <cstring>

namespace ONNX_LIGHT_NAMESPACE {

Tensor Joined(std::span<const Tensor> elements, int axis) {
  Shape shape = elements[0].shape();
  if (axis < 0) {
    shape.insert(0, static_cast<int64_t>(elements.size()));
  } else {
    shape[axis] = 0;
    for (const Tensor& element : elements) shape[axis] += element.dim(axis);
  }
  Tensor joined(elements[0].dtype(), shape);
  if (joined.NumElements() == 0) return joined;
  size_t before = 1;
  for (int i = 0; i < axis; ++i) before *= static_cast<size_t>(shape[i]);
  auto* to = static_cast<std::byte*>(joined.mutable_data());
  for (size_t row = 0; row < before; ++row) {
    for (const Tensor& element : elements) {
      const size_t bytes = element.ByteSize() / before;
      if (bytes > 0) std::memcpy(to, static_cast<const std::byte*>(element.data()) + row * bytes, bytes);
      to += bytes;
    }
  }
  return joined;
}

std::optional<int> DifferingAxis(const Sequence& sequence) {
  int axis = -1;
  for (const Tensor& element : sequence.elements()) {
    if (element.rank() != sequence[0].rank()) return std::nullopt;
    for (int i = 0; i < element.rank(); ++i) {
      if (element.dim(i) == sequence[0].dim(i) || i == axis) continue;
      if (axis >= 0) return std::nullopt;
      axis = i;
    }
  }
  return axis;
}

}  // namespace ONNX_LIGHT_NAMESPACE
