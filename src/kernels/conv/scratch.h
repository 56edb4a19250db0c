// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/aligned_array.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// Memory of the calling thread for one tile, kept for the next one unless it is large. One of each type lives at a
// time.
template <class T>
class Scratch {
 public:
  // Throws std::bad_alloc.
  explicit Scratch(int64_t size) {
    if (held_size < size) {
      held = MakeAlignedArray<T>(size);
      held_size = size;
    }
  }
  ~Scratch() {
    constexpr int64_t kKept = 1 << 20;
    if (held_size <= kKept) return;
    held.reset();
    held_size = 0;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* data() const { return held.get(); }

 private:
  static thread_local AlignedArray<T> held;
  static thread_local int64_t held_size;
};
template <class T>
thread_local AlignedArray<T> Scratch<T>::held;
template <class T>
thread_local int64_t Scratch<T>::held_size = 0;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
