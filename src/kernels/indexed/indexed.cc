// SPDX-License-Identifier: Apache-2.0
#include "kernels/indexed/indexed.h"

#include <algorithm>
#include <cstddef>

#include "base/stop_token.h"
#include "kernels/indexed/storage_type.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// One row of the innermost dim: stretches that run along the source are copied whole.
template <class E>
void MappedRow(const E* from, std::span<const int64_t> map, const E* fill, E* to) {
  const auto n = static_cast<int64_t>(map.size());
  for (int64_t i = 0; i < n;) {
    const int64_t first = map[static_cast<size_t>(i)];
    int64_t end = i + 1;
    if (first < 0) {
      while (end < n && map[static_cast<size_t>(end)] < 0) ++end;
      std::fill(to + i, to + end, *fill);
    } else {
      while (end < n && map[static_cast<size_t>(end)] == first + (end - i)) ++end;
      std::copy_n(from + first, end - i, to + i);
    }
    i = end;
  }
}

template <class E>
void Mapped(const E* from, std::span<const int64_t> dims, std::span<const std::vector<int64_t>> maps, const E* fill,
            E* to) {
  if (maps.empty()) {
    *to = *from;
    return;
  }
  const size_t outer = maps.size() - 1;
  const auto row = static_cast<int64_t>(maps[outer].size());
  int64_t rows = 1;
  std::vector<int64_t> strides(outer);
  int64_t stride = dims[outer];
  for (size_t d = outer; d-- > 0;) {
    strides[d] = stride;
    stride *= dims[d];
    rows *= static_cast<int64_t>(maps[d].size());
  }
  std::vector<size_t> index(outer);
  constexpr int64_t kStretch = 1 << 16;  // between two looks at the stop token
  const int64_t look = std::max<int64_t>(1, kStretch / std::max<int64_t>(1, row));
  for (int64_t r = 0; r < rows; ++r, to += row) {
    if (r % look == 0 && StopRequested()) return;
    int64_t offset = 0;
    bool inside = true;
    for (size_t d = 0; d < outer; ++d) {
      const int64_t at = maps[d][index[d]];
      inside = inside && at >= 0;
      offset += at * strides[d];
    }
    if (inside) {
      for (int64_t i = 0; i < row && (i == 0 || !StopRequested()); i += kStretch)
        MappedRow(from + offset,
                  std::span<const int64_t>(maps[outer])
                      .subspan(static_cast<size_t>(i), static_cast<size_t>(std::min(kStretch, row - i))),
                  fill, to + i);
    } else {
      std::fill_n(to, row, *fill);
    }
    for (size_t d = outer; d-- > 0;) {
      if (++index[d] < maps[d].size()) break;
      index[d] = 0;
    }
  }
}

}  // namespace

void GatherRows(TensorType type, const void* from, std::span<const int64_t> offsets, int64_t row, void* to) {
  DispatchStorage(type, [&]<class E>(std::type_identity<E>) {
    const auto* source = static_cast<const E*>(from);
    auto* out = static_cast<E*>(to);
    for (const int64_t offset : offsets) out = std::copy_n(source + offset, row, out);
  });
}

void Fill(TensorType type, void* to, int64_t n, const void* value) {
  DispatchStorage(type, [&]<class E>(std::type_identity<E>) {
    std::fill_n(static_cast<E*>(to), n, *static_cast<const E*>(value));
  });
}

void FillAt(TensorType type, void* to, std::span<const int64_t> offsets, const void* value) {
  DispatchStorage(type, [&]<class E>(std::type_identity<E>) {
    const E element = *static_cast<const E*>(value);
    for (const int64_t offset : offsets) static_cast<E*>(to)[offset] = element;
  });
}

void MappedCopy(TensorType type, const void* from, std::span<const int64_t> dims,
                std::span<const std::vector<int64_t>> maps, const void* fill, void* to) {
  DispatchStorage(type, [&]<class E>(std::type_identity<E>) {
    Mapped(static_cast<const E*>(from), dims, maps, static_cast<const E*>(fill), static_cast<E*>(to));
  });
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
