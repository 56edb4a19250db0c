// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// Every packed block and scratch buffer starts on a cache line, which is also the widest vector.
inline constexpr int64_t kAlignment = 64;

struct AlignedDelete {
  void operator()(void* p) const noexcept { ::operator delete(p, std::align_val_t{kAlignment}); }
};

// `size` numbers, not initialised, kAlignment-aligned. Throws std::bad_alloc.
template <class T>
  requires std::is_arithmetic_v<T>
using AlignedArray = std::unique_ptr<T[], AlignedDelete>;
template <class T>
AlignedArray<T> MakeAlignedArray(int64_t size) {
  if (size < 0 || static_cast<uint64_t>(size) > SIZE_MAX / sizeof(T)) throw std::bad_alloc();
  return AlignedArray<T>(
      static_cast<T*>(::operator new(static_cast<size_t>(size) * sizeof(T), std::align_val_t{kAlignment})));
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
