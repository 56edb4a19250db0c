// SPDX-License-Identifier: Apache-2.0
// Recurrent nodes that run at the same time, as sessions show them. That they give the same bits: tests/recurrent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "runtime/runtime_test_util.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

Tensor Full(std::initializer_list<int64_t> dims, float value) {
  Tensor t(TensorType::kFloat, Shape(dims));
  std::ranges::fill(t.MutableView<float>(), value);
  return t;
}

// Two layers of as many units; `h0` is the second one's.
std::string Stack(int64_t units = 96, const std::string& more_outputs = "") {
  const std::string h = std::to_string(units);
  return "g (float[T,N," + h + "] x, float[1,M," + h + "] h0) => (float[T,1,N," + h + "] y" + more_outputs +
         ") <int64[1] one = {1}> { [\"lower\"] a, an = LSTM <hidden_size: int = " + h +
         "> (x, w, w) s = Squeeze(a, one) [\"upper\"] y = LSTM <hidden_size: int = " + h +
         "> (s, w, w, \"\", \"\", h0) }";
}

// With `w`, weights of so many units.
Session Load(const std::string& graph, int threads, bool optimize = true, int64_t units = 96) {
  ModelProto model = ParseModelText("<ir_version: 8, opset_import: [\"\" : 17]>\n" + graph);
  Tensor w(TensorType::kFloat, Shape{1, 4 * units, units});
  float value = 0;
  for (float& weight : w.MutableView<float>()) weight = 0.1f * std::sin(value += 1);
  *model.mutable_graph()->add_initializer() = TensorToProto(w, "w");
  SessionOptions options;
  options.threads = threads;
  options.optimize = optimize;
  return Session::FromModel(std::move(model), options);
}

TEST(RecurrentGroup, ExplainNamesTheNodes) {
  const std::string grouped =
      "at the same time where steps are small: LSTM \"lower\", LSTM \"upper\" behind \"lower\"\n";
  EXPECT_THAT(Load(Stack(), 2).Explain(), testing::HasSubstr(grouped));
  EXPECT_THAT(Load(Stack(), 2).Explain(), testing::HasSubstr("group recurrent nodes: 1\n"));
  EXPECT_THAT(Load(Stack(), 1).Explain(), testing::Not(testing::HasSubstr("group")));
}

TEST(RecurrentGroup, LargeStepsStayAlone) {
  EXPECT_THAT(Load(Stack(512), 2, true, 512).Explain(), testing::Not(testing::HasSubstr("group")));
}

// Sizes for which running together pays, and others.
TEST(RecurrentGroup, GivesTheSameBits) {
  for (const auto& [steps, rows] : {std::pair<int64_t, int64_t>{60, 1}, {3, 1}, {60, 40}, {0, 2}, {4, 0}}) {
    const ValueMap feeds{{"x", Full({steps, rows, 96}, 0.5f)}, {"h0", Full({1, rows, 96}, 0.25f)}};
    const ValueMap expected = Load(Stack(96, ", float[1,N,96] an"), 1, false).Run(feeds);
    for (const int threads : {2, 3}) {
      const ValueMap got = Load(Stack(96, ", float[1,N,96] an"), threads).Run(feeds);
      for (const char* name : {"y", "an"})
        EXPECT_TRUE(std::ranges::equal(Floats(got.at(name)), Floats(expected.at(name))))
            << name << " " << steps << " steps, " << rows << " rows, " << threads << " threads";
    }
  }
}

TEST(RecurrentGroup, InnerValuesCanBeAskedFor) {
  const ValueMap feeds{{"x", Full({50, 1, 96}, 0.5f)}, {"h0", Full({1, 1, 96}, 0.25f)}};
  const std::vector<std::string> wanted{"s", "y"};
  const ValueMap got = Load(Stack(), 2).Run(feeds, wanted), expected = Load(Stack(), 1, false).Run(feeds, wanted);
  for (const char* name : {"s", "y"})
    EXPECT_TRUE(std::ranges::equal(Floats(got.at(name)), Floats(expected.at(name)))) << name;
}

TEST(RecurrentGroup, ErrorsNameTheNode) {
  const ValueMap feeds{{"x", Full({50, 1, 96}, 0.5f)}, {"h0", Full({1, 2, 96}, 0.25f)}};
  for (const int threads : {1, 2})
    EXPECT_EQ(ThrownBy<InvalidArgument>([&] { Load(Stack(), threads).Run(feeds); }),
              "LSTM node \"upper\", input 5 'initial_h' (\"h0\"): must be [1,1,96], got [1,2,96]");
}

TEST(RecurrentGroup, KeepsMemoryLimits) {
  const ValueMap feeds{{"x", Full({4000, 1, 96}, 0.5f)}, {"h0", Full({1, 1, 96}, 0.25f)}};
  RunOptions options;
  options.memory_limit = 1 << 20;
  EXPECT_THAT(ThrownBy<MemoryError>([&] { Load(Stack(), 2).Run(feeds, {}, options); }),
              testing::StartsWith("LSTM node \"lower\": "));
}

// Together, and one after the other; either would work for a second or so.
TEST(RecurrentGroup, EndsSoonWhenAsked) {
  const Session session = Load(Stack(), 2);
  for (const int64_t rows : {1, 4}) {
    const ValueMap feeds{{"x", Full({300000, rows, 96}, 0.5f)}, {"h0", Full({1, rows, 96}, 0.25f)}};
    std::atomic<bool> cancel{false};
    RunOptions run;
    run.cancel = &cancel;
    std::chrono::steady_clock::time_point cancelled;
    std::thread canceller([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
      cancelled = std::chrono::steady_clock::now();
      cancel = true;
    });
    EXPECT_EQ(ThrownBy<TimeoutError>([&] { session.Run(feeds, {}, run); }),
              "LSTM node \"lower\": the run was cancelled");
    const auto ended = std::chrono::steady_clock::now();
    canceller.join();
    EXPECT_LT(ended - cancelled, std::chrono::milliseconds(1500));
    RunOptions timed;
    timed.timeout = std::chrono::milliseconds(60);
    EXPECT_EQ(ThrownBy<TimeoutError>([&] { session.Run(feeds, {}, timed); }),
              "LSTM node \"lower\": the run takes longer than its limit of 60 ms");
  }
}

// Many runs of one session at the same time: the team has no room for all.
TEST(RecurrentGroup, RunsAtTheSameTime) {
  const Session session = Load(Stack(), 2);
  const ValueMap feeds{{"x", Full({60, 1, 96}, 0.5f)}, {"h0", Full({1, 1, 96}, 0.25f)}};
  const ValueMap expected = session.Run(feeds);
  std::atomic<int> same{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int repeat = 0; repeat < 20; ++repeat)
        if (std::ranges::equal(Floats(session.Run(feeds).at("y")), Floats(expected.at("y")))) ++same;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(same, 80);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
