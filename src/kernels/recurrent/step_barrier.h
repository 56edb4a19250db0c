// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "onnx_proto/config.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace ONNX_LIGHT_NAMESPACE::kernels {

// Holds `size` threads until all have come; what they wrote before is seen by all after. A step takes microseconds:
// they spin for about that long and then sleep, in case one of them lost its CPU.
class StepBarrier {
 public:
  void Wait(int size) noexcept {
    if (size <= 1) return;
    const int turn = turn_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size) {
      arrived_.store(0, std::memory_order_relaxed);
      turn_.store(turn + 1, std::memory_order_release);
      turn_.notify_all();
      return;
    }
    for (int i = 0; i < kSpins; ++i) {
      if (turn_.load(std::memory_order_acquire) != turn) return;
#if defined(__x86_64__) || defined(__i386__)
      _mm_pause();
#endif
    }
    while (turn_.load(std::memory_order_acquire) == turn) turn_.wait(turn, std::memory_order_acquire);
  }

 private:
  static constexpr int kSpins = 1000;
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<int> turn_{0};
};

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
