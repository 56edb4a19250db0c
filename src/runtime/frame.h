// SPDX-License-Identifier: Apache-2.0
// Frames: the values of one run of a graph. A finished run leaves its frame, emptied, to the next one.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {

using Frame = std::vector<Value>;

// Thread safe. A thread gets back the frame it used last, without a lock, as long as no other thread hashes to its
// place.
class FramePool {
 public:
  explicit FramePool(size_t slots) : slots_(slots) {}
  ~FramePool();
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;

  // Before the first Acquire only.
  void SetSlots(size_t slots) { slots_ = slots; }
  size_t slots() const { return slots_; }
  // All slots are empty.
  Frame* Acquire() const;
  void Release(Frame* frame) const noexcept;

 private:
  static constexpr size_t kPlaces = 16;
  static size_t Place() noexcept;
  size_t slots_;
  mutable std::array<std::atomic<Frame*>, kPlaces> places_{};
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Frame>> spare_;
};

// Holds a frame for one run.
class FrameLease {
 public:
  explicit FrameLease(const FramePool& pool) : pool_(pool), frame_(pool.Acquire()) {}
  ~FrameLease() { pool_.Release(frame_); }
  FrameLease(const FrameLease&) = delete;
  FrameLease& operator=(const FrameLease&) = delete;
  Frame& operator*() const { return *frame_; }

 private:
  const FramePool& pool_;
  Frame* frame_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
