// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <utility>

#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {

Shape::Shape(std::span<const int64_t> dims) {
  const int rank = static_cast<int>(dims.size());
  if (rank > kInline) {
    heap_ = new int64_t[dims.size()];
    capacity_ = rank;
  }
  rank_ = rank;
  int64_t* const to = data();
  for (size_t d = 0; d < dims.size(); ++d) to[d] = dims[d];
}

Shape::Shape(Shape&& other) noexcept { *this = std::move(other); }

// All of inline_, whatever the rank, is a few moves: less than a loop or a call.
Shape& Shape::operator=(const Shape& other) {
  if (this == &other) return *this;
  if (rank_ > kInline || other.rank_ > kInline) return *this = Shape(other.dims());
  std::memcpy(inline_, other.inline_, sizeof inline_);
  rank_ = other.rank_;
  return *this;
}

Shape& Shape::operator=(Shape&& other) noexcept {
  if (this == &other) return *this;
  Free();
  if (other.rank_ <= kInline) {
    std::memcpy(inline_, other.inline_, sizeof inline_);
    rank_ = std::exchange(other.rank_, 0);
    return *this;
  }
  heap_ = other.heap_;
  rank_ = std::exchange(other.rank_, 0);
  capacity_ = std::exchange(other.capacity_, kInline);
  return *this;
}

void Shape::Free() {
  if (rank_ > kInline) delete[] heap_;
  rank_ = 0;
  capacity_ = kInline;
}

void Shape::insert(int axis, int64_t dim) {
  if (rank_ < kInline || (rank_ > kInline && rank_ < capacity_)) {
    std::copy_backward(begin() + axis, end(), data() + rank_ + 1);
    data()[axis] = dim;
    ++rank_;
    return;
  }
  const int capacity = 2 * rank_;
  auto* grown = new int64_t[static_cast<size_t>(capacity)];
  std::copy(begin(), begin() + axis, grown);
  grown[axis] = dim;
  std::copy(begin() + axis, end(), grown + axis + 1);
  const int rank = rank_ + 1;
  Free();
  heap_ = grown;
  rank_ = rank;
  capacity_ = capacity;
}

void Shape::push_back(int64_t dim) { insert(rank_, dim); }

void Shape::erase(int axis) {
  if (rank_ == kInline + 1) {  // back into the object: heap_ and inline_ share their place
    const int64_t* heap = heap_;
    std::copy(heap, heap + axis, inline_);
    std::copy(heap + axis + 1, heap + rank_, inline_ + axis);
    delete[] heap;
    capacity_ = kInline;
  } else {
    std::copy(begin() + axis + 1, end(), data() + axis);
  }
  --rank_;
}

int64_t Shape::NumElements() const {
  int64_t product = 1;
  for (const int64_t dim : dims()) product *= dim;
  return product;
}

bool Shape::operator==(const Shape& other) const { return std::ranges::equal(dims(), other.dims()); }

std::string Shape::ToString() const { return fmt::format("[{}]", fmt::join(dims(), ",")); }

}  // namespace ONNX_LIGHT_NAMESPACE
