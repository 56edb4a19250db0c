// SPDX-License-Identifier: Apache-2.0
#include "kernels/indexed/indexed.h"

#include <algorithm>

#include "kernels/indexed/storage_type.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// fn(k, place) for each index inside; the number of the first outside. kIsLast: the row lies along the axis itself.
template <class Index, bool kIsLast, class Fn>
int64_t ForEachPlace(const IndexRow& row, Fn fn) {
  const auto* const indices = static_cast<const Index*>(row.indices);
  const int64_t count = row.count, n = row.n, step = row.step, along = row.along;
  int64_t k = 0;
#pragma GCC unroll 4
  for (; k < count; ++k) {
    const int64_t index = indices[k];
    const int64_t at = index + (index >> 63 & n);
    if (static_cast<uint64_t>(at) >= static_cast<uint64_t>(n)) break;
    fn(k, kIsLast ? at : k * step + at * along);
  }
  return k;
}
template <class Fn>
int64_t ForEachPlace(const IndexRow& row, Fn fn) {
  const bool is_last = row.step == 0 && row.along == 1;
  if (row.index_type == TensorType::kInt32)
    return is_last ? ForEachPlace<int32_t, true>(row, fn) : ForEachPlace<int32_t, false>(row, fn);
  return is_last ? ForEachPlace<int64_t, true>(row, fn) : ForEachPlace<int64_t, false>(row, fn);
}

}  // namespace

int64_t OffsetsOf(const IndexRow& row, int64_t base, int64_t* offsets) {
  return ForEachPlace(row, [=](int64_t k, int64_t place) { offsets[k] = base + place; });
}

int64_t GatherIndexed(TensorType type, const void* from, int64_t base, const IndexRow& row, void* to) {
  int64_t done = 0;
  DispatchStorage(type, [&]<class E>(std::type_identity<E>) {
    const auto* const source = static_cast<const E*>(from) + base;
    auto* const out = static_cast<E*>(to);
    done = ForEachPlace(row, [=](int64_t k, int64_t place) { out[k] = source[place]; });
  });
  return done;
}

void GatherRows(TensorType type, const void* from, std::span<const int64_t> offsets, int64_t row, void* to) {
  DispatchStorage(type, [&]<class E>(std::type_identity<E>) {
    const auto* source = static_cast<const E*>(from);
    auto* out = static_cast<E*>(to);
    if (row == 1) {
      for (const int64_t offset : offsets) *out++ = source[offset];
    } else {
      for (const int64_t offset : offsets) out = std::copy_n(source + offset, row, out);
    }
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

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
