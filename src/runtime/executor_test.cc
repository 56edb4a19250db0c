// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/cpu_features.h"
#include "runtime/runtime_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using testing::ElementsAre;

TEST(ExecutorTest, ChainsAndSharedValues) {
  const Session session =
      FromText("g (float[N] x) => (float[N] y, float[N] z) { a = Add(x, x) b = Neg(a) y = Mul(a, b) z = Relu(b) }");
  const ValueMap out = session.Run({{"x", Vec({1, -2})}});
  EXPECT_THAT(Floats(out.at("y")), ElementsAre(-4, -16));
  EXPECT_THAT(Floats(out.at("z")), ElementsAre(0, 4));
}

TEST(ExecutorTest, OutputsThatAreInputsConstantsOrEachOther) {
  const Session session =
      FromText("g (float[N] x) => (float[N] x, float[2] w, float[N] y) <float[2] w = {1, 2}> { y = Identity(x) }");
  const ValueMap out = session.Run({{"x", Vec({5})}});
  EXPECT_THAT(Floats(out.at("x")), ElementsAre(5));
  EXPECT_THAT(Floats(out.at("w")), ElementsAre(1, 2));
  EXPECT_THAT(Floats(out.at("y")), ElementsAre(5));
}

TEST(ExecutorTest, UnsortedNodesRun) {
  const Session session = FromText("g (float[N] x) => (float[N] y) { y = Neg(b) b = Add(a, x) a = Relu(x) }");
  EXPECT_THAT(Floats(session.Run({{"x", Vec({-1, 3})}}).at("y")), ElementsAre(1, -6));
}

TEST(ExecutorTest, UnusedInputsAndOutputsCostNothing) {
  const Session session = FromText("g (float[N] x, float[N] unused) => (float[N] y) { dead = Neg(x) y = Relu(x) }");
  EXPECT_THAT(Floats(session.Run({{"x", Vec({1})}, {"unused", Vec({7})}}).at("y")), ElementsAre(1));
}

TEST(ExecutorTest, WantedOutputsOnly) {
  const Session session = FromText("g (float[N] x) => (float[N] y, float[N] z) { y = Neg(x) z = Relu(x) }");
  const std::string wanted[] = {"z"};
  const ValueMap out = session.Run({{"x", Vec({1})}}, wanted);
  EXPECT_EQ(out.size(), 1u);
  EXPECT_TRUE(out.contains("z"));
  const std::string wrong[] = {"q"};
  EXPECT_EQ(ThrownBy<InvalidArgument>([&] { session.Run({{"x", Vec({1})}}, wrong); }),
            "output \"q\": the model has no such output; its outputs are \"y\", \"z\"");
}

TEST(ExecutorTest, FedTensorsAreNeverChanged) {
  const Session session = FromText(
      "g (float[N] x) => (float[N] y, float[N] x2) { a = Identity(x) b = Relu(a) c = Neg(b) y = Add(c, c) x2 = "
      "Identity(x) }");
  std::vector<float> mine = {-1, 2, 3};
  const Tensor own = Tensor::Of<float>(Shape{3}, {-1, 2, 3});
  const Tensor borrowed = Tensor::Borrow(mine.data(), TensorType::kFloat, Shape{3}, std::function<void()>());
  for (const Tensor& fed : {own, borrowed}) {
    const ValueMap out = session.Run({{"x", fed}});
    EXPECT_THAT(fed.View<float>(), ElementsAre(-1, 2, 3));
    EXPECT_THAT(Floats(out.at("y")), ElementsAre(0, -4, -6));
    EXPECT_THAT(Floats(out.at("x2")), ElementsAre(-1, 2, 3));
    // What was lent is the lender's: the result must not change with it.
    EXPECT_NE(out.at("x2").tensor().data(), borrowed.data());
  }
}

TEST(ExecutorTest, SequencesKeepTheirOwnElements) {
  const Session session = FromText(
      "g (seq(float[N]) s, float[N] x) => (seq(float[N]) longer, seq(float[N]) same) "
      "{ longer = SequenceInsert(s, x) same = Identity(s) }");
  const Value fed = Sequence({Vec({1}).tensor()});
  const ValueMap out = session.Run({{"s", fed}, {"x", Vec({2})}});
  EXPECT_EQ(out.at("longer").sequence().size(), 2);
  EXPECT_EQ(out.at("same").sequence().size(), 1);
  EXPECT_EQ(fed.sequence().size(), 1);
}

TEST(ExecutorTest, ErrorsNameTheNode) {
  const Session session = FromText("g (float[N] x, float[M] z) => (float[K] y) { t = Neg(x) [sum] y = Add(t, z) }");
  try {
    session.Run({{"x", Vec({1, 2})}, {"z", Vec({1, 2, 3})}});
    FAIL();
  } catch (const InvalidArgument& e) {
    EXPECT_EQ(e.op_type(), "Add");
    EXPECT_EQ(e.node_name(), "sum");
    EXPECT_THAT(e.what(), testing::HasSubstr("Add node \"sum\""));
  }
  EXPECT_EQ(session.Run({{"x", Vec({1})}, {"z", Vec({1, 2, 3})}}).size(), 1u) << "the session still runs";
}

TEST(ExecutorTest, ElementTypesAreCheckedAgainBeforeEachNode) {
  const Session session = FromText("g (float[N] x, double[N] z) => (float[N] y) { [a] y = Add(x, z) }");
  EXPECT_EQ(
      ThrownBy<InvalidArgument>([&] { session.Run({{"x", Vec({1})}, {"z", Tensor::Of<double>(Shape{1}, {1})}}); }),
      "Add node \"a\", input 1 'B' (\"z\"): must have the element type of input 0 'A' (\"x\"), float, got double");
  const Session text = FromText("g (string[N] x) => (string[N] y) { [n] y = Neg(x) }");
  EXPECT_EQ(ThrownBy<InvalidArgument>([&] { text.Run({{"x", Tensor::Of<std::string>(Shape{1}, {"a"})}}); }),
            "Neg node \"n\", input 0 'X' (\"x\"): cannot have elements of type string");
  const Session kind = FromText("g (seq(float[N]) x) => (float[N] y) { [n] y = Neg(x) }");
  EXPECT_EQ(ThrownBy<InvalidArgument>([&] { kind.Run({{"x", Sequence(TensorType::kFloat)}}); }),
            "Neg node \"n\", input 0 'X' (\"x\"): must be a tensor, got seq(tensor(float)), 0 elements");
  const Session other = FromText("g (float[N] x) => (int64 y) { [n] y = SequenceLength(x) }");
  EXPECT_THAT(ThrownBy<InvalidArgument>([&] { other.Run({{"x", Vec({1})}}); }),
              testing::HasSubstr("must be a sequence, got tensor(float)[1]"));
}

TEST(ExecutorTest, CancelAndTimeLimit) {
  const Session session = FromText("g (float[N] x) => (float[N] y) { [first] t = Neg(x) y = Neg(t) }");
  const std::atomic<bool> cancel{true};
  RunOptions options;
  options.cancel = &cancel;
  EXPECT_EQ(ThrownBy<TimeoutError>([&] { session.Run({{"x", Vec({1})}}, {}, options); }),
            "Neg node \"first\": the run was cancelled");
  options = {};
  options.timeout = std::chrono::nanoseconds(-1);
  EXPECT_EQ(ThrownBy<TimeoutError>([&] { session.Run({{"x", Vec({1})}}, {}, options); }),
            "Neg node \"first\": the run takes longer than its limit of 0 ms");
  options.timeout = std::chrono::hours(1);
  EXPECT_THAT(Floats(session.Run({{"x", Vec({1})}}, {}, options).at("y")), ElementsAre(1));
}

TEST(ExecutorTest, MemoryLimit) {
  const Session session = FromText("g (float[N] x) => (float[N] y) { [n] a = Neg(x) y = Neg(a) }");
  RunOptions options;
  options.memory_limit = 100;
  EXPECT_THAT(Floats(session.Run({{"x", Vec({1})}}, {}, options).at("y")), ElementsAre(1));
  const Value large = Tensor::Of<float>(Shape{26}, std::vector<float>(26));
  EXPECT_EQ(ThrownBy<MemoryError>([&] { session.Run({{"x", large}}, {}, options); }),
            "Neg node \"n\": needs 104 more bytes, 0 of the limit of 100 are in use");
}

TEST(ExecutorTest, DenormalsAreFlushedInTheRunOnly) {
  const uint32_t before = DenormalBits();
  constexpr const char* kGraph = "g (float[N] x, float[N] z) => (float[N] y) { y = Mul(x, z) }";
  const ValueMap feeds = {{"x", Vec({1e-30f})}, {"z", Vec({1e-10f})}};
  SessionOptions keep;
  keep.denormals = true;
  EXPECT_GT(Floats(FromText(kGraph, keep).Run(feeds).at("y"))[0], 0);
  if (before != 0 || DenormalBits() == 0) {
    EXPECT_EQ(DenormalBits(), before);
  }
  const ValueMap flushed = FromText(kGraph).Run(feeds);
  EXPECT_EQ(DenormalBits(), before) << "the caller's mode is back";
#if defined(__x86_64__) || defined(__aarch64__)
  EXPECT_EQ(Floats(flushed.at("y"))[0], 0);
#endif
}

#if defined(__x86_64__) || defined(__aarch64__)
TEST(ExecutorTest, EveryThreadFlushesAndErrorsBringTheModeBack) {
  // Large enough for pieces on every thread; the second operator fails.
  const Session session =
      FromText("g (float[N] x, float[M] z) => (float[N] y, float[K] w) { y = Mul(x, x) w = Add(x, z) }");
  std::vector<float> tiny(500'000, 1e-22f);
  const Value x = Tensor::Of<float>(Shape{500'000}, std::span<const float>(tiny));
  const uint32_t before = DenormalBits();
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(Floats(session.Run({{"x", x}, {"z", Vec({1})}}).at("y")), testing::Each(0.0f));
    EXPECT_THROW(session.Run({{"x", x}, {"z", Vec({1, 2})}}), InvalidArgument);
    EXPECT_EQ(DenormalBits(), before);
  }
  // The mode of the caller does not reach the run either.
  SessionOptions keep;
  keep.denormals = true;
  const Session keeps = FromText("g (float[N] x, float[M] z) => (float[N] y) { y = Mul(x, x) }", keep);
  {
    const DenormalScope flushing(true);
    const uint32_t flushed = DenormalBits();
    EXPECT_THAT(keeps.Run({{"x", x}, {"z", Vec({1})}}).at("y").tensor().View<float>(), testing::SizeIs(500'000));
    EXPECT_EQ(DenormalBits(), flushed);
  }
  const ValueMap kept = keeps.Run({{"x", x}, {"z", Vec({1})}});
  EXPECT_THAT(Floats(kept.at("y")), testing::Each(testing::Gt(0.0f)));
}

TEST(ExecutorTest, DenormalWeightsArePackedAsTheSessionSays) {
  // One step, one unit: h = sigmoid(0) * tanh(sigmoid(0) * tanh(w x)), with w x normal only while w is kept.
  constexpr const char* kGraph =
      "g (float[1,1,1] x) => (float[1,1,1,1] y) <float[1,4,1] w = {0, 0, 0, 1e-40}, float[1,4,1] r = {0, 0, 0, 0}> "
      "{ y = LSTM <hidden_size: int = 1>(x, w, r) }";
  const ValueMap feeds = {{"x", Tensor::Of<float>(Shape{1, 1, 1}, {1e38f})}};
  EXPECT_EQ(Floats(FromText(kGraph).Run(feeds).at("y"))[0], 0);
  SessionOptions keep;
  keep.denormals = true;
  EXPECT_NEAR(Floats(FromText(kGraph, keep).Run(feeds).at("y"))[0], 0.25f * 0.01f, 1e-5f);
}

TEST(ExecutorTest, LogarithmsAndPowersReadDenormalsAsTheRunDoes) {
  constexpr const char* kGraph = "g (float[N] x, float[1] p) => (float[N] y, float[N] z) { y = Log(x) z = Pow(x, p) }";
  const ValueMap feeds = {{"x", Vec({1e-40f, 0, 1})}, {"p", Vec({0.5f})}};
  const float inf = std::numeric_limits<float>::infinity();
  const ValueMap flushed = FromText(kGraph).Run(feeds);
  EXPECT_THAT(Floats(flushed.at("y")), ElementsAre(-inf, -inf, 0));
  EXPECT_THAT(Floats(flushed.at("z")), ElementsAre(0, 0, 1));
  SessionOptions keep;
  keep.denormals = true;
  const ValueMap kept = FromText(kGraph, keep).Run(feeds);
  EXPECT_NEAR(Floats(kept.at("y"))[0], -92.1034f, 1e-3f);
  EXPECT_NEAR(Floats(kept.at("z"))[0], 1e-20f, 1e-23f);
}
#endif

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
