// SPDX-License-Identifier: Apache-2.0
#include "values/block_cache.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

Tensor Bytes(int64_t n) { return Tensor(TensorType::kUint8, Shape{n}); }

TEST(BlockCacheTest, ClassesHoldWhatIsAskedAndAQuarterMoreAtMost) {
  EXPECT_EQ(BlockCache::ClassOf(1), 0);
  EXPECT_EQ(BlockCache::ClassOf(64), 0);
  EXPECT_EQ(BlockCache::ClassOf(65), 1);
  for (size_t bits = 6; bits < 61; ++bits)
    for (const size_t off : {size_t{0}, size_t{1}, size_t{7}, size_t{1} << (bits - 2), size_t{1} << (bits - 1)})
      for (const size_t bytes : {(size_t{1} << bits) + off, (size_t{1} << (bits + 1)) - off}) {
        const int32_t size_class = BlockCache::ClassOf(bytes);
        EXPECT_GE(BlockCache::SizeOf(size_class), bytes);
        EXPECT_LE(BlockCache::SizeOf(size_class), bytes + bytes / 4 + 16) << bytes;
        if (size_class > 0) {
          EXPECT_LT(BlockCache::SizeOf(size_class - 1), bytes) << "the smallest that does";
        }
      }
}

TEST(BlockCacheTest, DeadTensorsServeTheNextOfTheirSize) {
  BlockCachePool pool;
  const void* first = nullptr;
  {
    const BlockCacheScope scope(pool);
    Tensor a = Bytes(1000);
    first = a.data();
    a = Tensor();
    const Tensor other = Bytes(5000);
    EXPECT_NE(other.data(), first);
    const Tensor again = Bytes(990);
    EXPECT_EQ(again.data(), first);
  }
  EXPECT_GT(pool.kept(), 6000);
  {
    const BlockCacheScope scope(pool);
    EXPECT_EQ(Bytes(1000).data(), first) << "of the run before";
  }
  pool.Trim();
  EXPECT_EQ(pool.kept(), 0);
}

TEST(BlockCacheTest, TensorsOutliveTheirCacheAndDieAnywhere) {
  Tensor kept;
  {
    BlockCachePool pool;
    const BlockCacheScope scope(pool);
    kept = Tensor::Of<float>(Shape{3}, {1, 2, 3});
    Tensor strings = Tensor::Of<std::string>(Shape{1}, {std::string(100, 'x')});
    std::thread([moved = std::move(strings)]() mutable { moved = Tensor(); }).join();
  }
  EXPECT_EQ(kept.View<float>()[2], 3);
}

TEST(BlockCacheTest, LargeBlocksAreForgottenWhenRunsStopUsingThem) {
  BlockCachePool pool;
  const auto run = [&](int64_t bytes) {
    const BlockCacheScope scope(pool);
    Bytes(bytes);
  };
  run(1 << 20);
  EXPECT_GE(pool.kept(), 1 << 20);
  for (int i = 0; i < 2 * BlockCache::kIdleRuns; ++i) run(100);
  EXPECT_LT(pool.kept(), 1000);
}

TEST(BlockCacheTest, KeepsNoMoreThanTwiceWhatARunAskedFor) {
  BlockCachePool pool, theirs;
  // Tensors of other threads that die here, as the results of bodies do.
  for (int run = 0; run < 20; ++run) {
    std::vector<Tensor> made;
    std::thread([&] {
      const BlockCacheScope scope(theirs);
      for (int i = 0; i < 10; ++i) made.push_back(Bytes(10000));
    }).join();
    const BlockCacheScope scope(pool);
    Bytes(10000);
    made.clear();
  }
  EXPECT_LT(pool.kept(), 30000);
}

TEST(BlockCacheTest, ManyShapesKeepAFewRunsWorth) {
  BlockCachePool pool;
  uint64_t state = 1;
  for (int run = 0; run < 3000; ++run) {
    const BlockCacheScope scope(pool);
    state = state * 6364136223846793005u + 1442695040888963407u;
    Bytes(static_cast<int64_t>(state >> 44));  // up to 1 MB
  }
  EXPECT_LT(pool.kept(), 3 << 20);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
