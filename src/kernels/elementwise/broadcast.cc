// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise/broadcast.h"

#include <algorithm>

namespace ONNX_LIGHT_NAMESPACE::kernels {

void BroadcastLoops::Add(const Dim& dim) {
  if (count_ < kInline) {
    inline_[count_] = dim;
  } else {
    if (heap_.empty()) heap_.assign(inline_.begin(), inline_.end());
    heap_.push_back(dim);
  }
  ++count_;
}

BroadcastLoops::BroadcastLoops(std::span<const int64_t> out, std::span<const std::span<const int64_t>> shapes)
    : operands_(static_cast<int>(shapes.size())) {
  std::array<int64_t, kMaxOperands> next{};  // stride of the dim being looked at, from the innermost outwards
  next.fill(1);
  for (size_t back = 0; back < out.size(); ++back) {
    const int64_t size = out[out.size() - 1 - back];
    size_ *= size;
    Dim dim{size, {}};
    for (size_t k = 0; k < shapes.size(); ++k) {
      const int64_t own = back < shapes[k].size() ? shapes[k][shapes[k].size() - 1 - back] : 1;
      dim.stride[k] = own == 1 ? 0 : next[k];
      next[k] *= own;
    }
    if (size == 1) continue;
    if (count_ > 0) {
      Dim& inner = dims().back();
      bool merges = true;
      for (size_t k = 0; k < shapes.size(); ++k) merges = merges && dim.stride[k] == inner.stride[k] * inner.size;
      if (merges) {
        inner.size *= size;
        continue;
      }
    }
    Add(dim);
  }
  if (count_ == 0) Add(Dim{1, {}});
  std::ranges::reverse(dims());
}

void BroadcastLoops::Run(int64_t begin, int64_t end, const void* const* in, const size_t* in_size, void* out,
                         size_t out_size, RowFn row, const void* fn) const {
  if (begin >= end) return;
  const std::span<const Dim> dims = this->dims();
  const Dim& inner = dims.back();
  const auto operands = static_cast<size_t>(operands_);
  const size_t outer = dims.size() - 1;
  if (outer == 0) {  // what follows costs more than a short row
    std::array<const void*, kMaxOperands> from{};
    for (size_t k = 0; k < operands; ++k)
      from[k] = static_cast<const std::byte*>(in[k]) + static_cast<size_t>(begin * inner.stride[k]) * in_size[k];
    return row(from.data(), inner.stride.data(), static_cast<std::byte*>(out) + static_cast<size_t>(begin) * out_size,
               end - begin, fn);
  }
  std::array<int64_t, kInline> few{};
  std::vector<int64_t> many(outer > kInline ? outer : 0);
  int64_t* const index = outer > kInline ? many.data() : few.data();
  std::array<int64_t, kMaxOperands> offset{};  // of the current row's first element
  int64_t rest = begin / inner.size;
  for (size_t d = outer; d-- > 0;) {
    index[d] = rest % dims[d].size;
    rest /= dims[d].size;
    for (size_t k = 0; k < operands; ++k) offset[k] += index[d] * dims[d].stride[k];
  }
  int64_t column = begin % inner.size;
  auto* to = static_cast<std::byte*>(out) + static_cast<size_t>(begin) * out_size;
  while (begin < end) {
    const int64_t n = std::min(inner.size - column, end - begin);
    std::array<const void*, kMaxOperands> from{};
    for (size_t k = 0; k < operands; ++k) {
      from[k] =
          static_cast<const std::byte*>(in[k]) + static_cast<size_t>(offset[k] + column * inner.stride[k]) * in_size[k];
    }
    row(from.data(), inner.stride.data(), to, n, fn);
    begin += n;
    to += static_cast<size_t>(n) * out_size;
    column = 0;
    for (size_t d = outer; d-- > 0;) {
      for (size_t k = 0; k < operands; ++k) offset[k] += dims[d].stride[k];
      if (++index[d] < dims[d].size) break;
      for (size_t k = 0; k < operands; ++k) offset[k] -= dims[d].stride[k] * dims[d].size;
      index[d] = 0;
    }
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
