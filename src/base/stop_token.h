// SPDX-License-Identifier: Apache-2.0
// StopToken: asks the work of one run to end early.
//
// Work that may take long looks at StopRequested() every few milliseconds and returns when it is true, its results
// unfinished; whoever gave the token finds it stopped and throws. ThreadTeam carries the token to the workers it calls
// in and begins no further piece once it is stopped, so that kernels whose pieces are small need do nothing.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

class StopToken {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Reason : uint8_t { kNone, kCancelled, kDeadline };

  // How often `poll` is called.
  static constexpr std::chrono::milliseconds kPollEvery{10};

  // Stopped when `cancel` (may be null) is set, the deadline is past, or `poll` (may be empty), which is called now and
  // then on the thread that made the token only, says so. All outlive the token.
  StopToken(const std::atomic<bool>* cancel, std::optional<Clock::time_point> deadline,
            const std::function<bool()>* poll) noexcept;
  StopToken(const StopToken&) = delete;
  StopToken& operator=(const StopToken&) = delete;

  // Nothing can stop it.
  bool idle() const noexcept { return cancel_ == nullptr && !deadline_ && poll_ == nullptr; }
  // Once true, true for ever. Thread safe. The deadline is noticed up to some milliseconds late: the clock is the one
  // that costs nothing to read.
  bool Requested() noexcept { return Check(CoarseNow()); }
  // The same by the exact clock.
  bool RequestedNow() noexcept { return Check(deadline_ ? Clock::now() : CoarseNow()); }
  Reason reason() const noexcept { return reason_.load(std::memory_order_relaxed); }

 private:
  static Clock::time_point CoarseNow() noexcept;
  bool Check(Clock::time_point now) noexcept;
  const std::atomic<bool>* cancel_;
  std::optional<Clock::time_point> deadline_;
  const std::function<bool()>* poll_;
  std::thread::id owner_;
  Clock::time_point next_poll_;  // of the owner alone
  std::atomic<Reason> reason_{Reason::kNone};
};

// The token of the calling thread; null when nothing can stop its work.
StopToken* CurrentStop() noexcept;
inline bool StopRequested() noexcept {
  StopToken* const token = CurrentStop();
  return token != nullptr && token->Requested();
}

// While it lives, `token` (null: none) is the calling thread's.
class StopScope {
 public:
  explicit StopScope(StopToken* token) noexcept;
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  StopToken* before_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
