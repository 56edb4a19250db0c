// SPDX-License-Identifier: Apache-2.0
#include "kernels/indexed/indexed.h"

#include <algorithm>

#include "kernels/indexed/storage_type.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

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
