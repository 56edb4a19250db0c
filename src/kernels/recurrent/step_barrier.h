// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "base/stop_token.h"
#include "onnx_proto/config.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace ONNX_LIGHT_NAMESPACE::kernels {

// Holds `size` threads until all have come; what they wrote before is seen by all after. A step takes microseconds:
// they spin for about that long and then sleep, in case one of them lost its CPU. The answer, the same for all, is
// whether to go on: false when the run is to end (base/stop_token.h).
class StepBarrier {
 public:
  [[nodiscard]] bool Wait(int size) noexcept {
    const bool stop = StopRequested();
    if (size <= 1) return !stop;
    if (stop) stop_.store(true, std::memory_order_relaxed);
    const int turn = turn_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size) {
      arrived_.store(0, std::memory_order_relaxed);
      // Nobody can come to the next turn, and change it, before all have read it.
      const bool go_on = !stop_.load(std::memory_order_relaxed);
      go_on_.store(go_on, std::memory_order_relaxed);
      turn_.store(turn + 1, std::memory_order_release);
      turn_.notify_all();
      return go_on;
    }
    for (int i = 0; i < kSpins; ++i) {
      if (turn_.load(std::memory_order_acquire) != turn) return go_on_.load(std::memory_order_relaxed);
#if defined(__x86_64__) || defined(__i386__)
      _mm_pause();
#endif
    }
    while (turn_.load(std::memory_order_acquire) == turn) turn_.wait(turn, std::memory_order_acquire);
    return go_on_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr int kSpins = 1000;
  std::atomic<bool> stop_{false};  // somebody is asked to stop
  std::atomic<bool> go_on_{true};  // what was decided in the last turn
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<int> turn_{0};
};

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
