// SPDX-License-Identifier: Apache-2.0
// SequenceMap over all elements at once: what is chosen and said of it, and that nothing else can be told from going
// element by element. tests/sequence_map_fuzz compares the numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "runtime/profiler.h"
#include "runtime/runtime_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Rows of three numbers each: 0, 1, 2, ..
Value Rows(std::initializer_list<int64_t> counts) {
  std::vector<Tensor> elements;
  for (const int64_t count : counts) {
    Tensor& element = elements.emplace_back(TensorType::kFloat, Shape({count, 3}));
    float next = 0;
    for (float& x : element.MutableView<float>()) x = next++;
  }
  return Sequence(std::move(elements));
}

SessionOptions With(SequenceMapStrategy strategy, int threads = 1) {
  SessionOptions options;
  options.sequence_map = strategy;
  options.threads = threads;
  return options;
}

// What Explain says of SequenceMaps.
std::string Maps(const Session& session) {
  const std::string text = session.Explain();
  const size_t at = text.find("SequenceMap \"");
  return at == std::string::npos ? std::string() : text.substr(at);
}

constexpr const char* kSoftmax =
    "g (seq(float[]) s) => (seq(float[]) t) { [map0] t = SequenceMap <body = b (float[] x) => (float[] y) {\n"
    "  a = Softmax <axis: int = 0>(x) y = ReduceMax <axes: ints = [0]>(a) }>(s) }";

TEST(SequenceMap, ExplainSaysHowElementsWereBatched) {
  const Session session = FromText(kSoftmax, With(SequenceMapStrategy::kAuto));
  EXPECT_EQ(Maps(session), "SequenceMap \"map0\"\n");
  static_cast<void>(session.Run({{"s", Rows({2, 2, 2, 2, 2})}}));
  EXPECT_EQ(Maps(session),
            "SequenceMap \"map0\"\n"
            "  stacked: 5 elements in 1 group, 2 nodes for all of a group\n");
  static_cast<void>(session.Run({{"s", Rows({2, 1, 4, 3})}}));
  static_cast<void>(session.Run({{"s", Rows({2, 9, 4, 3, 1})}}));
  EXPECT_EQ(Maps(session),
            "SequenceMap \"map0\"\n"
            "  stacked: 5 elements in 1 group, 2 nodes for all of a group\n"
            "  packed along axis 0: 9 elements in 2 groups, 2 nodes for all of a group\n");
}

TEST(SequenceMap, TooFewElementsAreNotBatchedUnlessItIsAskedFor) {
  const Value s = Rows({2, 1});
  const Session session = FromText(kSoftmax, With(SequenceMapStrategy::kAuto));
  static_cast<void>(session.Run({{"s", s}}));
  EXPECT_EQ(Maps(session),
            "SequenceMap \"map0\"\n"
            "  not packed along axis 0: with elements so few, or so large, nothing is gained\n");
  const Session packed = FromText(kSoftmax, With(SequenceMapStrategy::kPacked));
  static_cast<void>(packed.Run({{"s", s}}));
  EXPECT_EQ(Maps(packed),
            "SequenceMap \"map0\"\n"
            "  packed along axis 0: 2 elements in 1 group, 2 nodes for all of a group\n");
}

TEST(SequenceMap, ElementsOfOneShapeMakeAGroup) {
  const Session session = FromText(kSoftmax, With(SequenceMapStrategy::kStacked));
  static_cast<void>(session.Run({{"s", Rows({2, 1, 2, 1, 2})}}));
  EXPECT_EQ(Maps(session),
            "SequenceMap \"map0\"\n"
            "  stacked: 2 elements in 1 group, 2 nodes for all of a group\n"
            "  stacked: 3 elements in 1 group, 2 nodes for all of a group\n");
}

TEST(SequenceMap, ExplainNamesNodesThatStayElementByElement) {
  const Session session = FromText(
      "g (seq(float[]) s) => (seq(float[]) t) { [map0] t = SequenceMap <body = b (float[] x) => (float[] y) {\n"
      "  a = Exp(x) c = Mul(a, x) [found] d = NonZero(c) y = Cast <to: int = 1>(d) }>(s) }",
      With(SequenceMapStrategy::kPacked));
  static_cast<void>(session.Run({{"s", Rows({2, 1, 3, 1})}}));
  EXPECT_EQ(Maps(session),
            "SequenceMap \"map0\"\n"
            "  packed along axis 0: 4 elements in 1 group, 3 nodes for all of a group\n"
            "    element by element: NonZero node \"found\": there is no rule for it\n");
}

TEST(SequenceMap, ExplainSaysWhyABodyWasNotBatched) {
  const Session session = FromText(
      "g (seq(float[]) s) => (seq(int64[]) t) { [map0] t = SequenceMap <body = b (float[] x) => (int64[] y) {\n"
      "  [found] y = NonZero(x) }>(s) }",
      With(SequenceMapStrategy::kAuto));
  static_cast<void>(session.Run({{"s", Rows({2, 1, 3, 1})}}));
  EXPECT_EQ(Maps(session),
            "SequenceMap \"map0\"\n"
            "  not packed along axis 0: NonZero node \"found\": there is no rule for it\n");
}

TEST(SequenceMap, ElementByElementIsWhatItSays) {
  SessionOptions deterministic, plain;
  deterministic.deterministic = true;
  plain.optimize = false;
  for (const SessionOptions& options : {With(SequenceMapStrategy::kElements), deterministic, plain}) {
    const Session session = FromText(kSoftmax, options);
    static_cast<void>(session.Run({{"s", Rows({2, 2, 2, 2, 2})}}));
    EXPECT_EQ(Maps(session), "");
  }
}

TEST(SequenceMap, ErrorsNameTheElement) {
  const char* graph =
      "g (seq(float[]) s) => (seq(float[]) t) { [map0] t = SequenceMap <body = b (float[] x) => (float[] y) {\n"
      "  a = Exp(x) [g] c = Gather <axis: int = 0>(a, i) y = Neg(c) }>(s) }";
  const std::string text = std::string(graph).insert(std::string(graph).find(") =>"), ", int64 i");
  for (const SequenceMapStrategy strategy : {SequenceMapStrategy::kAuto, SequenceMapStrategy::kPacked}) {
    for (const int threads : {1, 3}) {
      const Session session = FromText(text, With(strategy, threads));
      const ValueMap feeds{{"s", Rows({3, 4, 2, 5, 1, 3})}, {"i", Tensor::Scalar<int64_t>(2)}};
      EXPECT_EQ(
          ThrownBy<Error>([&] { session.Run(feeds); }),
          "Gather node \"g\", input 1 'indices' (\"i\"): element 0 is 2, not in [-2, 1] in body 'b' of SequenceMap "
          "\"map0\", element 2");
      EXPECT_THAT(Maps(session), HasSubstr("\n    then element by element, once, for an error\n"));
      const ValueMap good{{"s", Rows({3, 4, 3, 5, 6, 3})}, {"i", Tensor::Scalar<int64_t>(2)}};
      EXPECT_FLOAT_EQ(session.Run(good).at("t").sequence()[0].View<float>()[0], -std::exp(6.0f));
      EXPECT_THAT(Maps(session), HasSubstr("  packed along axis 0: 6 elements in 1 group, 3 nodes"));
    }
  }
}

TEST(SequenceMap, ADeadlineEndsBatchedWork) {
  using Clock = std::chrono::steady_clock;
  // The promise is 50 ms; a busy machine takes its own time.
  constexpr std::chrono::milliseconds kSoon{1500};
  std::vector<Tensor> elements;
  for (int i = 0; i < 200; ++i) {
    Tensor& element = elements.emplace_back(TensorType::kFloat, Shape({2000 + i, 1, 16}));
    std::ranges::fill(element.MutableView<float>(), 0.5f);
  }
  const ValueMap feeds{{"s", Sequence(std::move(elements))},
                       {"w", Tensor(TensorType::kFloat, Shape({1, 1024, 16}))},
                       {"r", Tensor(TensorType::kFloat, Shape({1, 1024, 256}))}};
  for (const SequenceMapStrategy strategy : {SequenceMapStrategy::kAuto, SequenceMapStrategy::kPacked}) {
    for (const int threads : {1, 2}) {
      const Session session = FromText(
          "g (seq(float[]) s, float[1,1024,16] w, float[1,1024,256] r) => (seq(float[]) t) {\n"
          "  [map0] t = SequenceMap <body = b (float[] x) => (float[] y) {\n"
          "  [n] h, y = LSTM <hidden_size: int = 256>(x, w, r) }>(s) }",
          With(strategy, threads));
      RunOptions run;
      run.timeout = std::chrono::milliseconds(150);
      const auto begin = Clock::now();
      EXPECT_THAT(
          ThrownBy<TimeoutError>([&] { session.Run(feeds, {}, run); }),
          testing::EndsWith("the run takes longer than its limit of 150 ms in body 'b' of SequenceMap \"map0\""));
      EXPECT_LT(Clock::now() - begin, kSoon + *run.timeout);
      EXPECT_THAT(Maps(session), Not(HasSubstr("for an error"))) << "it is not tried again element by element";
    }
  }
}

TEST(SequenceMap, MemoryLimitsHold) {
  std::vector<Tensor> list;
  for (int i = 0; i < 64; ++i)
    std::ranges::fill(list.emplace_back(TensorType::kFloat, Shape({20'000})).MutableView<float>(), 1.0f);
  const ValueMap feeds{{"s", Sequence(std::move(list))}};
  for (const SequenceMapStrategy strategy :
       {SequenceMapStrategy::kAuto, SequenceMapStrategy::kStacked, SequenceMapStrategy::kPacked}) {
    const Session session = FromText(
        "g (seq(float[]) s) => (seq(float[]) t) { [map0] t = SequenceMap <body = b (float[] x) => (float[] y) {\n"
        "  a = Exp(x) c = Mul(a, x) [n] y = Concat <axis: int = 0>(c, c) }>(s) }",
        With(strategy));
    RunOptions run;
    run.memory_limit = 200 * 80'000;
    EXPECT_EQ(session.Run(feeds, {}, run).at("t").sequence().size(), 64);
    run.memory_limit = 100 * 80'000;
    EXPECT_THAT(ThrownBy<MemoryError>([&] { session.Run(feeds, {}, run); }),
                testing::MatchesRegex(".*more bytes, .* of the limit of 8000000 are in use in body 'b' of SequenceMap "
                                      "\"map0\", element [0-9]+"));
  }
}

// Nodes by the path of their graph, and how often they ran.
class Log final : public RunObserver {
 public:
  explicit Log(bool all) : all_(all) {}
  bool WantsAllValues() const override { return all_; }
  void OnNode(const NodeEvent& event) override {
    const std::lock_guard lock(mutex_);
    ++seen[std::string(event.path) + " " + std::string(event.node.op_type())];
  }
  std::map<std::string, int> seen;

 private:
  bool all_;
  std::mutex mutex_;
};

TEST(SequenceMap, WhoWantsAllValuesSeesElements) {
  const Session session = FromText(kSoftmax, With(SequenceMapStrategy::kStacked));
  const ValueMap feeds{{"s", Rows({2, 2, 2, 2, 2})}};
  Log all(true), some(false);
  RunOptions run;
  run.observer = &all;
  static_cast<void>(session.Run(feeds, {}, run));
  EXPECT_THAT(all.seen, ElementsAre(std::pair(" SequenceMap", 1), std::pair("/map0/body ReduceMax", 5),
                                    std::pair("/map0/body Softmax", 5)));
  run.observer = &some;
  static_cast<void>(session.Run(feeds, {}, run));
  EXPECT_EQ(some.seen["/map0/body ReduceMax"], 1);
  EXPECT_EQ(some.seen["/map0/body Softmax"], 1);
}

TEST(SequenceMap, TheProfileShowsBatchedNodes) {
  const Session session = FromText(kSoftmax, With(SequenceMapStrategy::kPacked));
  Profiler profiler;
  RunOptions run;
  run.observer = &profiler;
  static_cast<void>(session.Run({{"s", Rows({2, 3, 2, 5, 2})}}, {}, run));
  const std::vector<Profiler::Entry> entries = profiler.Entries();
  ASSERT_GE(entries.size(), 3u);
  EXPECT_EQ(entries[0].op_type, "SequenceMap");
  EXPECT_EQ(entries[1].op_type, "SegmentSoftmax");
  EXPECT_EQ(entries[1].path, "/map0/body");
}

TEST(SequenceMap, RunsAtOnceShareWhatWasMade) {
  const Session session = FromText(kSoftmax, With(SequenceMapStrategy::kAuto, 2));
  const Session plain = FromText(kSoftmax, With(SequenceMapStrategy::kElements));
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t i = 0; i < 50; ++i) {
        const ValueMap feeds{{"s", i % 2 == 0 ? Rows({1 + i % 5, 2, 7, 1, 3 + t, 2}) : Rows({2, 2, 2, 2, 2, 2})}};
        const Value got = session.Run(feeds).at("t"), wanted = plain.Run(feeds).at("t");
        for (int64_t e = 0; e < 6; ++e)
          for (size_t k = 0; k < 3; ++k)
            if (std::abs(got.sequence()[e].View<float>()[k] - wanted.sequence()[e].View<float>()[k]) > 1e-6f) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(SequenceMap, TheLastSixteenKindsOfElementsAreKept) {
  const Session session = FromText(kSoftmax, With(SequenceMapStrategy::kStacked));
  for (int64_t n = 1; n <= 20; ++n) static_cast<void>(session.Run({{"s", Rows({n, n})}}));
  const std::string text = Maps(session);
  size_t lines = 0;
  for (size_t at = text.find("  stacked:"); at != std::string::npos; at = text.find("  stacked:", at + 1)) ++lines;
  EXPECT_EQ(lines, 16u);
}

// Elements of the shapes that the line names in brackets.
Value ElementsOf(const std::string& line) {
  std::vector<Tensor> elements;
  for (size_t at = line.find('['); at != std::string::npos; at = line.find('[', at + 1)) {
    Shape shape;
    std::istringstream dims(line.substr(at + 1, line.find(']', at) - at - 1));
    for (std::string dim; std::getline(dims, dim, ',');) shape.push_back(std::stoi(dim));
    for (float& x : elements.emplace_back(TensorType::kFloat, shape).MutableView<float>()) x = 1;
  }
  return Sequence(std::move(elements));
}

TEST(SequenceMap, TheExamplesOfTheDocumentationAreTrue) {
  std::ifstream file(ONNXSEQ_SOURCE_DIR "/docs/sequence-map.md");
  ASSERT_TRUE(file);
  std::string model, said, fed;
  std::string* block = nullptr;
  int examples = 0;
  for (std::string line; std::getline(file, line);) {
    if (line == "```onnx") {
      model.clear();
      block = &model;
    } else if (line == "```explain") {
      said.clear();
      block = &said;
    } else if (line.starts_with("```")) {
      if (block == &said) {
        const Session session = FromText(model, With(SequenceMapStrategy::kAuto));
        static_cast<void>(session.Run({{"s", ElementsOf(fed)}}));
        EXPECT_EQ(Maps(session), said) << model;
        ++examples;
      }
      block = nullptr;
    } else if (block != nullptr) {
      *block += line + "\n";
    } else if (line.find(" elements `s` of ") != std::string::npos) {
      fed = line;
    }
  }
  EXPECT_EQ(examples, 3);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
