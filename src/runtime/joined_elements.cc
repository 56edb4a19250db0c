// SPDX-License-Identifier: Apache-2.0
#include "runtime/joined_elements.h"

#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "ops/sequence/copy_elements.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Dims of a tensor but one, before and behind it.
struct AroundAxis {
  AroundAxis(const Shape& shape, int axis) {
    for (int i = 0; i < shape.rank(); ++i) (i < axis ? before : i > axis ? behind : size) *= shape[i];
  }
  int64_t before = 1, size = 1, behind = 1;
};

}  // namespace

Shape WithFirst(int64_t first, const Shape& dims) {
  std::vector<int64_t> all = {first};
  for (int i = 0; i < dims.rank(); ++i) all.push_back(dims[i]);
  return Shape(std::span<const int64_t>(all));
}
Shape WithDim(Shape shape, int axis, int64_t size) {
  shape[axis] = size;
  return shape;
}

Tensor Join(const Sequence& sequence, std::span<const int64_t> elements, const Shape& shape, int axis) {
  const AroundAxis whole(shape, axis);
  if (whole.before == 1 && elements.size() > 1) {
    const auto number = [&](int64_t i) { return elements[static_cast<size_t>(i)]; };
    Tensor joined = JoinInPlace(sequence, static_cast<int64_t>(elements.size()), number, shape);
    if (joined.defined()) return joined;
  }
  Tensor joined(sequence.dtype(), shape);
  if (joined.NumElements() == 0) return joined;
  auto* to = static_cast<std::byte*>(joined.mutable_data());
  const size_t row = joined.ByteSize() / static_cast<size_t>(whole.before);
  size_t offset = 0;
  for (const int64_t e : elements) {
    const Tensor& element = sequence[e];
    const size_t bytes = element.ByteSize() / static_cast<size_t>(whole.before);
    if (bytes == 0) continue;
    for (int64_t r = 0; r < whole.before; ++r)
      std::memcpy(to + static_cast<size_t>(r) * row + offset,
                  static_cast<const std::byte*>(element.data()) + static_cast<size_t>(r) * bytes, bytes);
    offset += bytes;
  }
  return joined;
}

Tensor PartAlong(const Tensor& all, int axis, int64_t first, int64_t length) {
  const Shape shape = WithDim(all.shape(), axis, length);
  const AroundAxis whole(all.shape(), axis);
  if (whole.before == 1) return all.Part(first * whole.behind, shape);
  Tensor part(all.dtype(), shape);
  if (part.NumElements() == 0) return part;
  const size_t bytes = part.ByteSize() / static_cast<size_t>(whole.before);
  const size_t row = all.ByteSize() / static_cast<size_t>(whole.before);
  const size_t offset = row / static_cast<size_t>(whole.size) * static_cast<size_t>(first);
  auto* to = static_cast<std::byte*>(part.mutable_data());
  for (size_t r = 0; r < static_cast<size_t>(whole.before); ++r)
    std::memcpy(to + r * bytes, static_cast<const std::byte*>(all.data()) + r * row + offset, bytes);
  return part;
}

}  // namespace ONNX_LIGHT_NAMESPACE
