// SPDX-License-Identifier: Apache-2.0
// Values inside a run, from outside: by name, and by watching.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/profiler.h"
#include "runtime/runtime_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using testing::ElementsAre;

constexpr const char* kGraph = R"(
  g (float[N] x, float[1] d = {5}) => (float[N] y) <float[1] w = {100}> {
    c = Constant <value = float[1] {10}>()
    folded = Add(c, w)
    unused = Neg(x)
    a = Add(x, folded)
    b = Neg(a)
    y = Mul(b, d)
  })";

TEST(TraceTest, AnyValueOfTheMainGraphByName) {
  const Session session = FromText(kGraph);
  const std::string wanted[] = {"b", "y", "folded", "a", "unused", "w", "c", "x", "d"};
  for (int i = 0; i < 2; ++i) {
    const ValueMap out = session.Run({{"x", Vec({1, 2})}}, wanted);
    EXPECT_EQ(out.size(), 9u);
    EXPECT_THAT(Floats(out.at("a")), ElementsAre(111, 112));
    EXPECT_THAT(Floats(out.at("b")), ElementsAre(-111, -112)) << "not what became of its memory";
    EXPECT_THAT(Floats(out.at("y")), ElementsAre(-555, -560));
    EXPECT_THAT(Floats(out.at("folded")), ElementsAre(110));
    EXPECT_THAT(Floats(out.at("unused")), ElementsAre(-1, -2));
    EXPECT_THAT(Floats(out.at("w")), ElementsAre(100));
    EXPECT_THAT(Floats(out.at("c")), ElementsAre(10));
    EXPECT_THAT(Floats(out.at("x")), ElementsAre(1, 2));
    EXPECT_THAT(Floats(out.at("d")), ElementsAre(5));
  }
  const std::string b[] = {"b"};
  const ValueMap out = session.Run({{"x", Vec({1})}, {"d", Vec({0})}}, b);
  EXPECT_EQ(out.size(), 1u);
  EXPECT_THAT(Floats(out.at("b")), ElementsAre(-111));
  const std::string wrong[] = {"b", "q"};
  EXPECT_EQ(ThrownBy<InvalidArgument>([&] { session.Run({{"x", Vec({1})}}, wrong); }),
            "output \"q\": the model has no such output; its outputs are \"y\"");
}

class Log : public RunObserver {
 public:
  explicit Log(bool all) : all_(all) {}
  bool WantsAllValues() const override { return all_; }
  void OnNode(const NodeEvent& event) override {
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < event.outputs.size(); ++i)
      if (event.outputs[i] != nullptr)
        values[std::string(event.path) + "/" + std::string(event.node.output(i))].push_back(*event.outputs[i]);
    EXPECT_LE(event.begin, event.end);
  }
  std::map<std::string, std::vector<Value>> values;

 private:
  bool all_;
  std::mutex mutex_;
};

TEST(TraceTest, ObserversSeeBodiesByTheirPath) {
  const Session session = FromText(R"(
    g (seq(float[N]) s) => (seq(float[N]) t) {
      [map0] t = SequenceMap <body = b (float[N] e) => (float[N] r) { unused = Neg(e) r = Add(e, e) }>(s)
    })");
  const ValueMap feeds{{"s", Sequence({Vec({1}).tensor(), Vec({2, 3}).tensor()})}};
  RunOptions options;
  Log some(false), all(true);
  options.observer = &some;
  static_cast<void>(session.Run(feeds, {}, options));
  ASSERT_EQ(some.values.size(), 2u);
  EXPECT_THAT(Floats(some.values["/map0/body/r"][1]), ElementsAre(4, 6));
  EXPECT_EQ(some.values["/t"][0].sequence().size(), 2);
  options.observer = &all;
  static_cast<void>(session.Run(feeds, {}, options));
  EXPECT_THAT(Floats(all.values["/map0/body/unused"][0]), ElementsAre(-1));
}

TEST(TraceTest, WhatAnObserverThrowsEndsTheRun) {
  struct Thrower : RunObserver {
    void OnNode(const NodeEvent&) override { throw std::runtime_error("enough"); }
  } thrower;
  RunOptions options;
  options.observer = &thrower;
  const Session session = FromText("g (float[N] x) => (float[N] y) { [n] y = Neg(x) }");
  EXPECT_EQ(ThrownBy<Error>([&] { session.Run({{"x", Vec({1})}}, {}, options); }), "Neg node \"n\": enough");
}

// The error of a node would have the elements run one by one.
TEST(TraceTest, WhatAnObserverThrowsEndsABatchedRun) {
  struct Thrower : RunObserver {
    void OnNode(const NodeEvent& event) override {
      if (!event.path.empty() && ++calls == 1) throw InvalidArgument("enough");
    }
    int calls = 0;
  } thrower;
  RunOptions options;
  options.observer = &thrower;
  SessionOptions packed;
  packed.sequence_map = SequenceMapStrategy::kPacked;
  const Session session = FromText(R"(
    g (seq(float[N]) s) => (seq(float[N]) t) {
      [map0] t = SequenceMap <body = b (float[N] e) => (float[N] r) { r = Add(e, e) }>(s)
    })",
                                   packed);
  const ValueMap feeds{{"s", Sequence({Vec({1}).tensor(), Vec({2, 3}).tensor()})}};
  EXPECT_THROW(session.Run(feeds, {}, options), InvalidArgument);
  EXPECT_EQ(thrower.calls, 1);
  EXPECT_EQ(session.Run(feeds).at("t").sequence().size(), 2);
}

TEST(TraceTest, ProfilerKnowsWhatRanWhen) {
  const Session session = FromText(R"(
    g (seq(float[N]) s) => (seq(float[N]) t) {
      [map0] t = SequenceMap <body = b (float[N] e) => (float[N] r) { [inner] r = Add(e, e) }>(s)
    })");
  Profiler profiler;
  RunOptions options;
  options.observer = &profiler;
  static_cast<void>(session.Run({{"s", Sequence({Vec({1}).tensor(), Vec({2}).tensor()})}}, {}, options));
  const std::vector<Profiler::Entry> entries = profiler.Entries();
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].op_type, "SequenceMap");
  EXPECT_EQ(entries[1].node_name, "inner");
  EXPECT_EQ(entries[1].path, "/map0/body");
  EXPECT_GE(entries[2].start_seconds, entries[1].start_seconds);
  EXPECT_GE(entries[0].seconds, entries[1].seconds + entries[2].seconds);
}

TEST(TraceTest, WarningsAreToldWhileLoading) {
  std::vector<std::string> warnings;
  SessionOptions options;
  options.on_warning = [&](const std::string& text) { warnings.push_back(text); };
  FromText("g (float[N,3] x) => (float[N,3] y) { [n] y = Neg(x) }", options);
  EXPECT_THAT(warnings, ElementsAre());
  FromText("g (float[N,3] x) => (int64[N,3] y) { [n] y = Neg(x) }", options);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], testing::HasSubstr("Neg node \"n\", output 0 (\"y\")"));
  EXPECT_THAT(warnings[0], testing::HasSubstr("tensor(int64)[N,3]"));
}

TEST(TraceTest, ProblemsOfInferenceAndLoadingTogether) {
  const auto parse = [](const char* graph) {
    return ParseModelText("<ir_version: 8, opset_import: [\"\" : 17, \"my\" : 1]>\n" + std::string(graph));
  };
  EXPECT_TRUE(FindProblems(parse("g (float[N] x) => (float[N] y) { y = Neg(x) }")).empty());
  const auto problems = FindProblems(parse("g (float[N] x) => (float[N] y) { [n] y = Neg <k: int = 1>(x) }"));
  ASSERT_EQ(problems.size(), 1u) << "a warning of inference, an error of loading";
  EXPECT_TRUE(problems[0].is_error);
  EXPECT_EQ(problems[0].message, "Neg node \"n\", attribute 'k': is not known to this operator");
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
