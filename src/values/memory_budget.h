// SPDX-License-Identifier: Apache-2.0
// values: tensors, sequences and absent optionals in memory, and the messages they are read from and written to.
// Before it: model. After it: ops and runtime, which compute with them, and the public API, which hands them out.
//
// MemoryBudget: how many bytes of tensor storage may live at once; a run that would need more ends with an error.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

// Counts the storage of tensors made while it is the current budget of the thread that makes them, until they die,
// whichever thread that happens on. Thread safe.
class MemoryBudget {
 public:
  explicit MemoryBudget(int64_t limit_bytes) : limit_(limit_bytes) {}

  // Throws MemoryError: `needs 4194304 more bytes, 62914560 of the limit of 67108864 are in use`.
  void Take(int64_t bytes);
  void Return(int64_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  int64_t used() const { return used_.load(std::memory_order_relaxed); }

  // Of the calling thread; null when there is no limit.
  static const std::shared_ptr<MemoryBudget>& Current() noexcept;

 private:
  int64_t limit_;
  std::atomic<int64_t> used_{0};
};

// While it lives, `budget` (null: none) is the calling thread's.
class MemoryBudgetScope {
 public:
  explicit MemoryBudgetScope(std::shared_ptr<MemoryBudget> budget) noexcept;
  ~MemoryBudgetScope();
  MemoryBudgetScope(const MemoryBudgetScope&) = delete;
  MemoryBudgetScope& operator=(const MemoryBudgetScope&) = delete;

 private:
  std::shared_ptr<MemoryBudget> before_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
