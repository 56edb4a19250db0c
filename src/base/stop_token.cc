// SPDX-License-Identifier: Apache-2.0
#include "base/stop_token.h"

#include <ctime>
#include <utility>

namespace ONNX_LIGHT_NAMESPACE {
namespace {

thread_local StopToken* current_stop = nullptr;

}  // namespace

StopToken::StopToken(const std::atomic<bool>* cancel, std::optional<Clock::time_point> deadline,
                     const std::function<bool()>* poll) noexcept
    : cancel_(cancel), deadline_(deadline), poll_(poll != nullptr && *poll ? poll : nullptr) {
  if (poll_ == nullptr) return;
  owner_ = std::this_thread::get_id();
  next_poll_ = Clock::now() + kPollEvery;
}

StopToken::Clock::time_point StopToken::CoarseNow() noexcept {
#if defined(CLOCK_MONOTONIC_COARSE)
  // The clock of steady_clock, as it was at the last tick of the system.
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return Clock::time_point(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
#else
  return Clock::now();
#endif
}

bool StopToken::Check(Clock::time_point now) noexcept {
  if (reason() != Reason::kNone) return true;
  Reason found = Reason::kNone;
  if (cancel_ != nullptr && cancel_->load(std::memory_order_relaxed)) {
    found = Reason::kCancelled;
  } else if (deadline_ && now > *deadline_) {
    found = Reason::kDeadline;
  } else if (poll_ != nullptr && std::this_thread::get_id() == owner_ && now >= next_poll_) {
    next_poll_ = now + kPollEvery;
    if ((*poll_)()) found = Reason::kCancelled;
  }
  if (found == Reason::kNone) return false;
  Reason none = Reason::kNone;  // the first reason stays
  reason_.compare_exchange_strong(none, found, std::memory_order_relaxed);
  return true;
}

StopToken* CurrentStop() noexcept { return current_stop; }

StopScope::StopScope(StopToken* token) noexcept : before_(std::exchange(current_stop, token)) {}
StopScope::~StopScope() { current_stop = before_; }

}  // namespace ONNX_LIGHT_NAMESPACE
