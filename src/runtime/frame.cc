// SPDX-License-Identifier: Apache-2.0
#include "runtime/frame.h"

#include <utility>

namespace ONNX_LIGHT_NAMESPACE {

FramePool::~FramePool() {
  for (std::atomic<Frame*>& place : places_) delete place.load(std::memory_order_acquire);
}

size_t FramePool::Place() noexcept {
  static std::atomic<size_t> next{0};
  thread_local const size_t place = next.fetch_add(1, std::memory_order_relaxed) % kPlaces;
  return place;
}

Frame* FramePool::Acquire() const {
  if (Frame* frame = places_[Place()].exchange(nullptr, std::memory_order_acquire)) return frame;
  {
    const std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      Frame* frame = spare_.back().release();
      spare_.pop_back();
      return frame;
    }
    spare_.reserve(spare_.size() + kPlaces);  // so that Release does not allocate
  }
  return std::make_unique<Frame>(slots_).release();
}

void FramePool::Release(Frame* frame) const noexcept {
  for (Value& value : *frame)
    if (!value.IsNone()) value = Value();
  Frame* expected = nullptr;
  if (places_[Place()].compare_exchange_strong(expected, frame, std::memory_order_release, std::memory_order_relaxed))
    return;
  std::unique_ptr<Frame> kept(frame);
  const std::lock_guard lock(mutex_);
  if (spare_.size() < spare_.capacity()) spare_.push_back(std::move(kept));
}

}  // namespace ONNX_LIGHT_NAMESPACE
