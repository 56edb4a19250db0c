// SPDX-License-Identifier: Apache-2.0
// BlockCache: memory of tensors that died, kept by size for the next ones.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

// A piece of memory from malloc. `size_class` < 0: of just the size asked for, made where no cache was current.
struct Block {
  void* memory = nullptr;
  int32_t size_class = -1;
};

// One thread's during a run. A block belongs to nobody: it may be made under one cache and freed under another or none.
//
// What is kept is bounded twice: a block nobody took for kIdleRuns to 2 kIdleRuns runs is freed, and all blocks
// together never exceed twice what one of those runs asked for. So repeated runs of one shape allocate nothing, and a
// large shape is forgotten soon after the last run that had it.
class BlockCache {
 public:
  static constexpr int64_t kIdleRuns = 8;

  BlockCache() = default;
  ~BlockCache() { FreeOlderThan(INT64_MAX); }
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  // Through the calling thread's cache when it has one; sizes are rounded up by a quarter at most then. `memory` is
  // null when there is not enough.
  static Block Allocate(size_t bytes) noexcept;
  static void Free(const Block& block) noexcept;

  // A run is over.
  void EndRun() noexcept;
  // Bytes kept.
  int64_t kept() const { return kept_; }

  // The class of blocks of at least `bytes`, which must be at most 2^62, and the size of its blocks.
  static int32_t ClassOf(size_t bytes) noexcept;
  static size_t SizeOf(int32_t size_class) noexcept;

 private:
  friend class BlockCacheScope;
  static constexpr size_t kClasses = 4 * 56 + 1;
  // Stands in a kept block's own memory.
  struct Link {
    Link* newer;
    Link* older;
    int64_t run;  // in which it came
  };
  struct Kept {
    Link* newest = nullptr;
    Link* oldest = nullptr;
  };
  void* Take(int32_t size_class) noexcept;
  // False when it is not kept.
  bool Put(void* memory, int32_t size_class) noexcept;
  void FreeOlderThan(int64_t run) noexcept;

  std::array<Kept, kClasses> classes_{};
  int32_t classes_used_ = 0;  // the highest class that ever had a block, plus one
  int64_t run_ = 0;
  int64_t kept_ = 0;
  int64_t asked_ = 0;         // in this run, bytes
  int64_t most_asked_ = 0;    // in one run of these kIdleRuns
  int64_t asked_before_ = 0;  // in one run of the kIdleRuns before
};

// The caches of a session, one for each thread that takes part in its runs. Thread safe.
class BlockCachePool {
 public:
  BlockCachePool() = default;
  ~BlockCachePool() { Trim(); }
  BlockCachePool(const BlockCachePool&) = delete;
  BlockCachePool& operator=(const BlockCachePool&) = delete;

  // Frees everything kept; caches in use now give theirs back at their own end.
  void Trim() noexcept;
  // Bytes kept by the caches that are not in use.
  int64_t kept();

 private:
  friend class BlockCacheScope;
  static constexpr size_t kPlaces = 16;
  std::unique_ptr<BlockCache> Take();
  void Give(std::unique_ptr<BlockCache> cache) noexcept;
  std::array<std::atomic<BlockCache*>, kPlaces> places_{};
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<BlockCache>> spare_;
};

// While it lives, a cache of `pool` is the calling thread's; its end is the end of a run.
class BlockCacheScope {
 public:
  explicit BlockCacheScope(BlockCachePool& pool);
  ~BlockCacheScope();
  BlockCacheScope(const BlockCacheScope&) = delete;
  BlockCacheScope& operator=(const BlockCacheScope&) = delete;

 private:
  BlockCachePool& pool_;
  std::unique_ptr<BlockCache> cache_;
  BlockCache* before_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
