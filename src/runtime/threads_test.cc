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

TEST(ThreadsTest, EightThreadsComputeTheBitsOfOne) {
  constexpr const char* kGraph = R"(
    g (seq(float[T,2,8]) s, float[1,64,8] w, float[1,64,16] r, float[M,300] a, float[300,70] b)
      => (seq(float[T,1,2,16]) t, float[M,70] c, float total) {
      t = SequenceMap <body = body (float[T,2,8] e) => (float[T,1,2,16] h) { h = LSTM <hidden_size: int = 16>(e, w, r) }>(s)
      p = MatMul(a, b)
      c = Softmax(p)
      total = ReduceSum <keepdims: int = 0>(p)
    })";
  uint64_t state = 7;
  const auto random = [&](std::initializer_list<int64_t> dims) {
    Tensor t(TensorType::kFloat, Shape(dims));
    for (float& x : t.MutableView<float>()) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      x = static_cast<float>(static_cast<int32_t>(state >> 32)) * 0x1p-32f;
    }
    return t;
  };
  std::vector<Tensor> elements;
  for (int64_t i = 0; i < 40; ++i) elements.push_back(random({1 + i % 9, 2, 8}));
  const ValueMap feeds = {{"s", Sequence(std::move(elements))},
                          {"w", random({1, 64, 8})},
                          {"r", random({1, 64, 16})},
                          {"a", random({260, 300})},
                          {"b", random({300, 70})}};
  const auto bits = [](const ValueMap& out) {
    std::string all;
    const auto add = [&](const Tensor& t) { all.append(static_cast<const char*>(t.data()), t.ByteSize()); };
    for (const auto& [name, value] : out) {
      if (value.IsTensor()) add(value.tensor());
      if (value.IsSequence())
        for (const Tensor& t : value.sequence().elements()) add(t);
    }
    return all;
  };
  SessionOptions one;
  one.threads = 1;
  const std::string expected = bits(FromText(kGraph, one).Run(feeds));
  const Session session = FromText(kGraph);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 5; ++j) wrong += bits(session.Run(feeds)) != expected;
    });
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
