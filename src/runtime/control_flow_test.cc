// SPDX-License-Identifier: Apache-2.0
// If, Loop and Scan as the executor runs them: what is shared between iterations, stopped, freed, and never
// overwritten. What they compute is in src/ops/control/*.test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "runtime/inferred_types.h"
#include "runtime/plan.h"
#include "runtime/runtime_test_util.h"
#include "values/memory_budget.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using testing::ElementsAre;

Value Int(int64_t value) { return Tensor::Scalar<int64_t>(value); }

TEST(ControlFlowTest, CapturesOfThreeLevelsAndFunctionsInside) {
  const Session session = FromText(R"(
    g (float[1] x, bool c, int64 m) => (float[1] y) <float[1] ten = {10}> {
      y = Loop <body = outer (int64 i, bool a, float[1] v) => (bool a, float[1] w) {
        h = Add(v, ten)
        w = If <then_branch = yes () => (float[1] r) {
          one = Constant <value_int: int = 1>()
          r = Loop <body = inner (int64 j, bool b, float[1] p) => (bool b, float[1] q) { s = my.f(p, h) q = Add(s, x) }>(one, "", v)
        }, else_branch = no () => (float[1] h) { }>(c)
      }>(m, "", x)
    }
    <domain: "my", opset_import: ["" : 17]>
    f (p, q) => (r) {
      c = Constant <value = bool {1}>()
      r = If <then_branch = t () => (s) { s = Mul(p, q) }, else_branch = e () => (s) { s = Neg(q) }>(c)
    }
  )");
  const auto run = [&](bool c) {
    return Floats(session.Run({{"x", Vec({2})}, {"c", Tensor::Scalar<bool>(c)}, {"m", Int(2)}}).at("y"))[0];
  };
  EXPECT_EQ(run(true), 26 * 36 + 2);  // v -> v * (v + 10) + 2, from 2
  EXPECT_EQ(run(false), 22);
}

TEST(ControlFlowTest, CancelReachesAnEndlessLoop) {
  const Session session = FromText(
      "g (float v) => (float w) { [l0] w = Loop <body = b (int64 i, bool c, float p) => (bool c, float q) "
      "{ [sum] q = Add(p, p) }>(\"\", \"\", v) }");
  std::atomic<bool> cancel{false};
  RunOptions options;
  options.cancel = &cancel;
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    cancel = true;
  });
  const std::string message =
      ThrownBy<TimeoutError>([&] { session.Run({{"v", Tensor::Scalar<float>(1)}}, {}, options); });
  stopper.join();
  EXPECT_THAT(message, testing::HasSubstr("the run was cancelled"));
}

TEST(ControlFlowTest, DeadlineReachesALoopWithoutNodes) {
  const Session session = FromText(
      "g (float v) => (float w) { w = Loop <body = b (int64 i, bool c, float p) => (bool c, float p) { }>(\"\", \"\", "
      "v) }");
  RunOptions options;
  options.timeout = std::chrono::milliseconds(20);
  EXPECT_THAT(ThrownBy<TimeoutError>([&] { session.Run({{"v", Tensor::Scalar<float>(1)}}, {}, options); }),
              testing::HasSubstr("takes longer than its limit of 20 ms"));
}

TEST(ControlFlowTest, MemoryStaysFlatOverManyTrips) {
  // 100,000 trips through vectors of 4 kB in 64 kB.
  const Session session = FromText(R"(
    g (float[1024] x, int64 m) => (float[1024] y) {
      y = Loop <body = b (int64 i, bool c, float[1024] v) => (bool c, float[1024] w) { p = Add(v, x) q = Neg(p) w = Neg(q) }>(m, "", x)
    })");
  RunOptions options;
  options.memory_limit = 64 << 10;
  const std::vector<float> ones(1024, 1.0f);
  const Value x = Tensor::Of<float>(Shape{1024}, std::span<const float>(ones));
  const ValueMap out = session.Run({{"x", x}, {"m", Int(100'000)}}, {}, options);
  EXPECT_EQ(Floats(out.at("y"))[1023], 100'001);
}

TEST(ControlFlowTest, CarriedValuesThatOthersHoldAreNotOverwritten) {
  // v is carried, captured by a body inside, a scan output and an output; every step could work in place.
  const Session session = FromText(R"(
    g (float[2] x, int64 m) => (float[2] x, float[2] y, float[2] z, float[M,2] s, float[M,2] t) {
      y, z, s, t = Loop <body = b (int64 i, bool c, float[2] v, float[2] u) => (bool c, float[2] w, float[2] v, float[2] v, float[2] k) {
        w = Relu(n)
        n = Abs(a)
        a = Add(v, v)
        yes = Constant <value = bool {1}>()
        k = If <then_branch = q () => (float[2] r) { p = Neg(v) r = Neg(p) }, else_branch = o () => (float[2] v) { }>(yes)
      }>(m, "", x, x)
    })");
  const Value x = Vec({1, 3});
  const ValueMap out = session.Run({{"x", x}, {"m", Int(3)}});
  EXPECT_THAT(Floats(x), ElementsAre(1, 3));
  EXPECT_THAT(Floats(out.at("x")), ElementsAre(1, 3));
  EXPECT_THAT(Floats(out.at("y")), ElementsAre(8, 24));
  EXPECT_THAT(Floats(out.at("z")), ElementsAre(4, 12));
  EXPECT_THAT(Floats(out.at("s")), ElementsAre(1, 3, 2, 6, 4, 12));
  EXPECT_THAT(Floats(out.at("t")), ElementsAre(1, 3, 2, 6, 4, 12));
}

TEST(ControlFlowTest, AppendingToACarriedSequenceCostsTheSameInEveryTrip) {
  const Session session = FromText(R"(
    g (int64 m) => (seq(float[1]) s, int64 n) <float[1] one = {1}> {
      e = SequenceEmpty()
      s = Loop <body = b (int64 i, bool c, seq(float[1]) v) => (bool c, seq(float[1]) w) { w = SequenceInsert(v, one) }>(m, "", e)
      n = SequenceLength(s)
    })");
  // Copying the list in each trip would be 20,000,000,000 handles.
  EXPECT_EQ(session.Run({{"m", Int(200'000)}}).at("n").tensor().View<int64_t>()[0], 200'000);
}

TEST(ControlFlowTest, EightThreadsOnOneSession) {
  const Session session = FromText(R"(
    g (float[N] x, int64 m) => (float[N] y, float[M,N] s) {
      d = Neg(x)
      y, s = Loop <body = b (int64 i, bool c, float[N] v) => (bool c, float[N] w, float[N] v) { h = Neg(d) w = Add(v, h) }>(m, "", x)
    })");
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const ValueMap out = session.Run({{"x", Vec({static_cast<float>(t), 1})}, {"m", Int(i)}});
        wrong += Floats(out.at("y"))[0] != static_cast<float>(t * (i + 1));
        wrong += out.at("s").tensor().shape() != Shape({i, 2});
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ControlFlowTest, RandomNumbersDifferBetweenIterations) {
  const Session session = FromText(
      "g (float[1] x, int64 m) => (float[M,1] s) { s = Loop <body = b (int64 i, bool c) => (bool c, float[1] r) "
      "{ r = RandomUniformLike(x) }>(m) }");
  const ValueMap out = session.Run({{"x", Vec({0})}, {"m", Int(3)}});
  const std::span<const float> s = Floats(out.at("s"));
  EXPECT_NE(s[0], s[1]);
  EXPECT_NE(s[1], s[2]);
}

TEST(ControlFlowTest, SequenceMapInsideALoopNamesBoth) {
  const Session session = FromText(R"(
    g (seq(float[N]) s, float[2] x, int64 m) => (seq(float[N]) t) {
      [l0] t = Loop <body = b (int64 i, bool c, seq(float[N]) v) => (bool c, seq(float[N]) w) {
        [map0] w = SequenceMap <body = f (float[N] e) => (float[N] r) { d = Concat <axis: int = 0>(e, e) [sum] r = Add(d, x) }>(v)
      }>(m, "", s)
    })");
  const Value s = Sequence({Vec({1}).tensor(), Vec({2}).tensor()});
  const ValueMap out = session.Run({{"s", s}, {"x", Vec({10, 20})}, {"m", Int(1)}});
  EXPECT_THAT(out.at("t").sequence()[1].View<float>(), ElementsAre(12, 22));
  EXPECT_THAT(
      ThrownBy<InvalidArgument>([&] { session.Run({{"s", s}, {"x", Vec({10, 20})}, {"m", Int(2)}}); }),
      testing::EndsWith("in body 'f' of SequenceMap \"map0\", element 0 in body 'b' of Loop \"l0\", iteration 1"));
}

// The plan of the body of the first node.
GraphPlan& BodyOf(GraphPlan& plan) { return plan.nodes.at(0).bodies.at(0)->graph; }

TEST(ControlFlowTest, WhatDependsOnOuterValuesAloneIsComputedOnce) {
  const ModelProto model = ParseModelText(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[N] x, int64 m) => (float[N] y) {
      y = Loop <body = b (int64 i, bool c, float[N] v) => (bool c, float[N] w) {
        n = Neg(x) a = Abs(n) p = Add(v, a) r = RandomUniformLike(x)
        k = If <then_branch = t () => (float[N] q) { q = Exp(a) }, else_branch = e () => (float[N] a) { }>(d)
        l = If <then_branch = t () => (float[N] q) { q = RandomUniformLike(a) }, else_branch = e () => (float[N] a) { }>(d)
        d = Constant <value = bool {1}>()
        s = Add(k, l) u = Add(s, r) w = Add(p, u)
      }>(m, "", x)
    })");
  const InferredTypes types(model, CustomOps(std::span<const CustomOp>()));
  const std::unique_ptr<GraphPlan> plan = MakePlan(model, types, {});
  std::vector<std::string> once, always;
  for (const NodePlan& node : BodyOf(*plan).invariant) once.push_back(node.node->output(0));
  for (const NodePlan& node : BodyOf(*plan).nodes) always.push_back(node.node->output(0));
  EXPECT_THAT(once, ElementsAre("n", "a", "k"));
  EXPECT_THAT(always, testing::UnorderedElementsAre("p", "r", "l", "s", "u", "w"));
}

TEST(ControlFlowTest, ValuesComputedOnceMayBeOutputs) {
  const Session session = FromText(R"(
    g (float[2] x, int64 m) => (float[2] y, float[M,2] s) {
      y, s = Loop <body = b (int64 i, bool c, float[2] v) => (bool c, float[2] n, float[2] n) { n = Neg(x) }>(m, "", x)
    })");
  const ValueMap out = session.Run({{"x", Vec({1, 3})}, {"m", Int(3)}});
  EXPECT_THAT(Floats(out.at("y")), ElementsAre(-1, -3));
  EXPECT_THAT(Floats(out.at("s")), ElementsAre(-1, -3, -1, -3, -1, -3));
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
