// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "runtime/frame.h"
#include "runtime/runtime_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

TEST(ThreadsTest, OneSessionServesManyThreads) {
  const Session session = FromText(
      "g (float[N] x, float[1] w = {1}, seq(float[M]) s) => (float[N] y, seq(float[M]) t) "
      "{ a = Add(x, x) b = Neg(a) y = Add(b, w) t = SequenceInsert(s, x) }");
  std::atomic<int> wrong{0};
  const auto work = [&](int thread) {
    for (int i = 0; i < 300; ++i) {
      const int size = 1 + (thread * 7 + i) % 50;
      const std::vector<float> x(static_cast<size_t>(size), static_cast<float>(i));
      const Value tensor = Tensor::Of<float>(Shape{size}, std::span<const float>(x));
      ValueMap feeds = {{"x", tensor}, {"s", Sequence({tensor.tensor()})}};
      const bool other = i % 3 == 0;  // two plans of the session take turns
      if (other) feeds["w"] = Vec({0.5f});
      const ValueMap out = session.Run(feeds);
      const float expected = (other ? 0.5f : 1.0f) - 2 * static_cast<float>(i);
      for (const float y : Floats(out.at("y"))) wrong += y != expected;
      wrong += out.at("t").sequence().size() != 2 || out.at("y").tensor().dim(0) != size;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadsTest, ErrorsInOneThreadLeaveTheOthersAlone) {
  const Session session = FromText("g (float[N] x, float[M] z) => (float[K] y) { y = Add(x, z) }");
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int j = 0; j < 200; ++j) {
        try {
          const ValueMap out = session.Run({{"x", Vec({1, 2})}, {"z", i % 2 == 0 ? Vec({1, 2}) : Vec({1, 2, 3})}});
          wrong += i % 2 != 0 || Floats(out.at("y"))[1] != 4;
        } catch (const InvalidArgument&) {
          wrong += i % 2 == 0;
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadsTest, SessionsMayDieWhileCopiesRun) {
  std::vector<std::thread> threads;
  {
    const Session session = FromText("g (float[N] x) => (float[N] y) { y = Neg(x) }");
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([copy = session] {
        for (int j = 0; j < 100; ++j) static_cast<void>(copy.Run({{"x", Vec({1})}}));
      });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(FramePoolTest, FramesComeBackEmpty) {
  const FramePool pool(3);
  Frame* first = nullptr;
  {
    const FrameLease lease(pool);
    first = &*lease;
    ASSERT_EQ(first->size(), 3u);
    (*lease)[1] = Vec({1});
    const FrameLease inner(pool);
    EXPECT_NE(&*inner, first);
  }
  const FrameLease again(pool);
  for (const Value& value : *again) EXPECT_TRUE(value.IsNone());
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
