// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise/broadcast.h"

#include <algorithm>

namespace ONNX_LIGHT_NAMESPACE::kernels {

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
    if (!dims_.empty()) {
      Dim& inner = dims_.back();
      bool merges = true;
      for (size_t k = 0; k < shapes.size(); ++k) merges = merges && dim.stride[k] == inner.stride[k] * inner.size;
      if (merges) {
        inner.size *= size;
        continue;
      }
    }
    dims_.push_back(dim);
  }
  if (dims_.empty()) dims_.push_back(Dim{1, {}});
  std::reverse(dims_.begin(), dims_.end());
}

void BroadcastLoops::Run(int64_t begin, int64_t end, const void* const* in, const size_t* in_size, void* out,
                         size_t out_size, RowFn row, const void* fn) const {
  if (begin >= end) return;
  const Dim& inner = dims_.back();
  const auto operands = static_cast<size_t>(operands_);
  const size_t outer = dims_.size() - 1;
  std::vector<int64_t> index(outer);
  std::array<int64_t, kMaxOperands> offset{};  // of the current row's first element
  int64_t rest = begin / inner.size;
  for (size_t d = outer; d-- > 0;) {
    index[d] = rest % dims_[d].size;
    rest /= dims_[d].size;
    for (size_t k = 0; k < operands; ++k) offset[k] += index[d] * dims_[d].stride[k];
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
      for (size_t k = 0; k < operands; ++k) offset[k] += dims_[d].stride[k];
      if (++index[d] < dims_[d].size) break;
      for (size_t k = 0; k < operands; ++k) offset[k] -= dims_[d].stride[k] * dims_[d].size;
      index[d] = 0;
    }
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
