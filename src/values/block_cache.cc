// SPDX-License-Identifier: Apache-2.0
#include "values/block_cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

namespace ONNX_LIGHT_NAMESPACE {
namespace {

thread_local BlockCache* current_cache = nullptr;

// Sizes up to this one share class 0; above, four classes to a power of two.
constexpr size_t kSmallest = 64;
constexpr int kSmallestBits = 6;
constexpr size_t kLargest = size_t{1} << 61;

// malloc takes blocks beyond 32 MB from the system and gives them back each time, a fault for each page of 4 KB: pages
// of 2 MB, where the system has them, cost a tenth.
constexpr size_t kHuge = size_t{32} << 20, kHugePage = size_t{2} << 20;

void* New(size_t bytes) noexcept {
  if (bytes < kHuge) return std::malloc(bytes);
  void* memory = nullptr;
  if (bytes > SIZE_MAX - kHugePage || posix_memalign(&memory, kHugePage, bytes) != 0) return nullptr;
  madvise(memory, bytes, MADV_HUGEPAGE);  // whoever refuses gives small ones
  return memory;
}

size_t ThreadPlace(size_t places) noexcept {
  static std::atomic<size_t> next{0};
  thread_local const size_t number = next.fetch_add(1, std::memory_order_relaxed);
  return number % places;
}

}  // namespace

int32_t BlockCache::ClassOf(size_t bytes) noexcept {
  if (bytes <= kSmallest) return 0;
  const int top = static_cast<int>(std::bit_width(bytes - 1)) - 1;  // 2^top <= bytes - 1 < 2^(top + 1)
  const auto quarter = static_cast<int>(((bytes - 1) >> (top - 2)) & 3);
  return 4 * (top - kSmallestBits) + quarter + 1;
}

size_t BlockCache::SizeOf(int32_t size_class) noexcept {
  if (size_class == 0) return kSmallest;
  const int top = kSmallestBits + (size_class - 1) / 4, quarter = (size_class - 1) % 4;
  return static_cast<size_t>(4 + quarter + 1) << (top - 2);
}

Block BlockCache::Allocate(size_t bytes) noexcept {
  BlockCache* const cache = current_cache;
  if (cache == nullptr || bytes > kLargest) return {New(bytes), -1};
  const int32_t size_class = ClassOf(bytes);
  if (void* const memory = cache->Take(size_class)) return {memory, size_class};
  void* memory = New(SizeOf(size_class));
  if (memory == nullptr && cache->kept_ > 0) {
    cache->FreeOlderThan(INT64_MAX);
    memory = New(SizeOf(size_class));
  }
  return {memory, size_class};
}

void BlockCache::Free(const Block& block) noexcept {
  BlockCache* const cache = current_cache;
  if (cache == nullptr || block.size_class < 0 || !cache->Put(block.memory, block.size_class)) std::free(block.memory);
}

void* BlockCache::Take(int32_t size_class) noexcept {
  asked_ += static_cast<int64_t>(SizeOf(size_class));
  Kept& kept = classes_[static_cast<size_t>(size_class)];
  Link* const block = kept.newest;
  if (block == nullptr) return nullptr;
  kept.newest = block->older;
  (kept.newest != nullptr ? kept.newest->newer : kept.oldest) = nullptr;
  kept_ -= static_cast<int64_t>(SizeOf(size_class));
  return block;
}

bool BlockCache::Put(void* memory, int32_t size_class) noexcept {
  const auto size = static_cast<int64_t>(SizeOf(size_class));
  if (kept_ + size > 2 * std::max({asked_, most_asked_, asked_before_})) return false;
  Kept& kept = classes_[static_cast<size_t>(size_class)];
  Link* const block = new (memory) Link{nullptr, kept.newest, run_};
  (kept.newest != nullptr ? kept.newest->newer : kept.oldest) = block;
  kept.newest = block;
  kept_ += size;
  classes_used_ = std::max(classes_used_, size_class + 1);
  return true;
}

void BlockCache::FreeOlderThan(int64_t run) noexcept {
  for (int32_t size_class = 0; size_class < classes_used_; ++size_class) {
    Kept& kept = classes_[static_cast<size_t>(size_class)];
    while (kept.oldest != nullptr && kept.oldest->run < run) {
      Link* const block = kept.oldest;
      kept.oldest = block->newer;
      (kept.oldest != nullptr ? kept.oldest->older : kept.newest) = nullptr;
      kept_ -= static_cast<int64_t>(SizeOf(size_class));
      std::free(block);
    }
  }
}

void BlockCache::EndRun() noexcept {
  most_asked_ = std::max(most_asked_, asked_);
  asked_ = 0;
  if (++run_ % kIdleRuns != 0) return;
  asked_before_ = std::exchange(most_asked_, 0);
  FreeOlderThan(run_ - kIdleRuns);
}

std::unique_ptr<BlockCache> BlockCachePool::Take() {
  if (BlockCache* const cache = places_[ThreadPlace(kPlaces)].exchange(nullptr, std::memory_order_acquire))
    return std::unique_ptr<BlockCache>(cache);
  {
    const std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      std::unique_ptr<BlockCache> cache = std::move(spare_.back());
      spare_.pop_back();
      return cache;
    }
    spare_.reserve(spare_.size() + kPlaces);  // so that Give does not allocate
  }
  return std::make_unique<BlockCache>();
}

void BlockCachePool::Give(std::unique_ptr<BlockCache> cache) noexcept {
  BlockCache* expected = nullptr;
  if (places_[ThreadPlace(kPlaces)].compare_exchange_strong(expected, cache.get(), std::memory_order_release,
                                                            std::memory_order_relaxed)) {
    static_cast<void>(cache.release());
    return;
  }
  const std::lock_guard lock(mutex_);
  if (spare_.size() < spare_.capacity()) spare_.push_back(std::move(cache));
}

void BlockCachePool::Trim() noexcept {
  for (std::atomic<BlockCache*>& place : places_) delete place.exchange(nullptr, std::memory_order_acquire);
  const std::lock_guard lock(mutex_);
  spare_.clear();
}

int64_t BlockCachePool::kept() {
  int64_t sum = 0;
  std::vector<std::unique_ptr<BlockCache>> idle;
  for (std::atomic<BlockCache*>& place : places_)
    if (BlockCache* const cache = place.exchange(nullptr, std::memory_order_acquire)) idle.emplace_back(cache);
  {
    const std::lock_guard lock(mutex_);
    for (const auto& cache : spare_) sum += cache->kept();
  }
  for (std::unique_ptr<BlockCache>& cache : idle) {
    sum += cache->kept();
    Give(std::move(cache));
  }
  return sum;
}

BlockCacheScope::BlockCacheScope(BlockCachePool& pool)
    : pool_(pool), cache_(pool.Take()), before_(std::exchange(current_cache, cache_.get())) {}

BlockCacheScope::~BlockCacheScope() {
  current_cache = before_;
  cache_->EndRun();
  pool_.Give(std::move(cache_));
}

}  // namespace ONNX_LIGHT_NAMESPACE
