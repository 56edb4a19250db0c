// SPDX-License-Identifier: Apache-2.0
// What runs take from the system, and limits on it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "runtime/runtime_test_util.h"

#if defined(__GLIBC__) && !ONNXSEQ_SANITIZED
#define ONNXSEQ_COUNTS_MALLOC 1
#else
#define ONNXSEQ_COUNTS_MALLOC 0
#endif

#if ONNXSEQ_COUNTS_MALLOC
namespace {
std::atomic<int64_t> mallocs{0};
}  // namespace
extern "C" void* __libc_malloc(size_t size);
extern "C" void* malloc(size_t size) noexcept {  // operator new comes here as well
  mallocs.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}
#endif

namespace ONNX_LIGHT_NAMESPACE {
namespace {

Value Floats1(int64_t n, float value) {
  Tensor t(TensorType::kFloat, Shape{n});
  std::ranges::fill(t.MutableView<float>(), value);
  return t;
}

#if ONNXSEQ_COUNTS_MALLOC
// Calls of malloc in one warm run.
int64_t WarmMallocs(Runner& runner) {
  for (int i = 0; i < 3; ++i) runner.Run();
  const int64_t before = mallocs.load();
  runner.Run();
  return mallocs.load() - before;
}

TEST(MemoryTest, WarmRunsTakeNothingForTensors) {
  SessionOptions options;
  options.threads = 1;
  const Session session = FromText(
      "g (float[N] x) => (float[N] y) { a = Identity(x) b = Identity(a) c = Identity(b) y = Identity(c) }", options);
  Runner runner(session);
  Tensor x(TensorType::kFloat, Shape{100});
  runner.SetInput(0, x);
  EXPECT_EQ(WarmMallocs(runner), 0) << "the machinery alone";

  const Session four =
      FromText("g (float[N] x) => (float[N] y) { a = Neg(x) b = Add(a, x) c = Mul(a, b) y = Sub(c, x) }", options);
  for (const int64_t n : {4, 1000, 300'000}) {
    Runner chain(four);
    chain.SetInput(0, Floats1(n, 2));
    EXPECT_EQ(WarmMallocs(chain), 0) << n;
    EXPECT_EQ(Floats(chain.output(0))[0], -2);
    const Tensor mine(TensorType::kFloat, Shape{n});
    chain.BindOutput(0, mine);
    EXPECT_EQ(WarmMallocs(chain), 0) << n;
    EXPECT_EQ(mine.View<float>()[static_cast<size_t>(n) - 1], -2);
  }
}

TEST(MemoryTest, BodiesOnOneThreadTakeNothingPerElement) {
  SessionOptions options;
  options.threads = 1;
  const Session session = FromText(
      "g (seq(float[N]) s) => (float[M] y) { t = SequenceMap <body = b (float[N] e) => (float[N] r) { a = Identity(e) "
      "r = "
      "Identity(a) }>(s) y = ConcatFromSequence <axis: int = 0>(t) }",
      options);
  const auto mallocs_of = [&](int64_t elements) {
    std::vector<Tensor> list;
    for (int64_t i = 0; i < elements; ++i) list.push_back(Floats1(50, 1).tensor());
    Runner runner(session);
    runner.SetInput(0, Sequence(std::move(list)));
    return WarmMallocs(runner);
  };
  EXPECT_LT(mallocs_of(200) - mallocs_of(100), 10);
}
#endif

TEST(MemoryTest, FlatOverManyRunsWithChangingShapes) {
  const Session session = FromText("g (float[N] x) => (float[N] y) { a = Neg(x) b = Add(a, x) y = Mul(b, x) }");
  uint64_t state = 1;
  const auto run = [&](int times) {
    for (int i = 0; i < times; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      static_cast<void>(session.Run({{"x", Floats1(static_cast<int64_t>(1 + (state >> 48)), 1)}}));
    }
  };
  run(500);
  const size_t before = mallinfo2().uordblks;
  run(3000);
  EXPECT_LT(mallinfo2().uordblks, before + (4 << 20));
  session.Trim();
  const size_t trimmed = mallinfo2().uordblks;
  run(50);
  EXPECT_GT(mallinfo2().uordblks + 1, trimmed);
  session.Trim();
  EXPECT_LT(mallinfo2().uordblks, trimmed + 100'000);
}

TEST(MemoryTest, NothingIsLeftOfManyRunsOnceTrimmed) {
  const Session session = FromText("g (float[N] x) => (float[N] y) { a = Neg(x) b = Add(a, x) y = Mul(b, x) }");
  uint64_t state = 1;
  const auto run = [&](int times) {
    for (int i = 0; i < times; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      static_cast<void>(session.Run({{"x", Floats1(static_cast<int64_t>(1 + (state >> 54)), 1)}}));
    }
    session.Trim();
    return mallinfo2().uordblks;
  };
  const size_t before = run(1000);
  EXPECT_LE(run(100'000), before + 4096) << "what malloc rounds up may differ";
}

TEST(MemoryTest, OutputsOutliveTheirSession) {
  Value y;
  {
    const Session session = FromText("g (float[N] x) => (float[N] y) { a = Neg(x) y = Neg(a) }");
    y = session.Run({{"x", Vec({1, 2})}}).at("y");
    static_cast<void>(session.Run({{"x", Vec({3, 4})}}));
    session.Trim();
  }
  EXPECT_THAT(Floats(y), testing::ElementsAre(1, 2));
}

TEST(MemoryTest, LimitOfTheSessionAndOfTheRun) {
  SessionOptions options;
  options.memory_limit = 100;
  const Session session = FromText("g (float[N] x) => (float[N] y) { [n] y = Neg(x) }", options);
  EXPECT_EQ(ThrownBy<MemoryError>([&] { session.Run({{"x", Floats1(26, 1)}}); }),
            "Neg node \"n\": needs 104 more bytes, 0 of the limit of 100 are in use");
  RunOptions more;
  more.memory_limit = 1000;
  EXPECT_EQ(session.Run({{"x", Floats1(26, 1)}}, {}, more).size(), 1u);
}

TEST(MemoryTest, LimitHoldsInBodiesOnEveryThread) {
  std::vector<Tensor> list;
  for (int i = 0; i < 64; ++i) list.push_back(Floats1(20'000, 1).tensor());
  const Value s = Sequence(std::move(list));
  for (const int threads : {1, 2, 4}) {
    SessionOptions options;
    options.threads = threads;
    const Session session = FromText(
        "g (seq(float[N]) s) => (seq(float[N]) t) { [map0] t = SequenceMap <body = b (float[N] e) => (float[N] r) { "
        "[n] r "
        "= Neg(e) }>(s) }",
        options);
    RunOptions run;
    run.memory_limit = 64 * 80'000;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(session.Run({{"s", s}}, {}, run).size(), 1u) << "as much as it needs";
    run.memory_limit = 40 * 80'000;
    EXPECT_THAT(
        ThrownBy<MemoryError>([&] { session.Run({{"s", s}}, {}, run); }),
        testing::MatchesRegex("Neg node \"n\": needs 80000 more bytes, 3200000 of the limit of 3200000 are in use in "
                              "body 'b' of SequenceMap \"map0\", element [0-9]+"));
  }
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
