// SPDX-License-Identifier: Apache-2.0
// What a process holds grows neither with the runs of a session, whatever lengths they have, nor with sessions made and
// dropped. ONNXSEQ_MEMORY_RUNS and ONNXSEQ_MEMORY_SESSIONS say how many there are of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "onnxseq/stream.h"
#include "runtime/runtime_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

int CountFrom(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

// A line of /proc/self/status, in MB.
double StatusOf(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":")) return std::strtod(line.c_str() + name.size() + 1, nullptr) / 1024;
  ADD_FAILURE() << "no " << name << " in /proc/self/status";
  return 0;
}
// Makes VmHWM, the most that was ever resident, what is resident now.
void ResetPeak() { std::ofstream("/proc/self/clear_refs") << 5; }

class Random {
 public:
  int64_t UpTo(int64_t most, int64_t least = 1) { return std::uniform_int_distribution<int64_t>(least, most)(engine_); }
  static Tensor Floats(Shape shape) {
    Tensor tensor(TensorType::kFloat, std::move(shape));
    for (float& value : tensor.MutableView<float>()) value = 0.1f;
    return tensor;
  }
  Tensor Lengths(int64_t rows, int64_t most) {
    Tensor tensor(TensorType::kInt32, Shape{rows});
    for (int32_t& length : tensor.MutableView<int32_t>()) length = static_cast<int32_t>(UpTo(most, 0));
    return tensor;
  }

 private:
  std::mt19937 engine_{7};
};

// A network over 8 inputs with 32 units, its constants filled with one number.
std::string Weights(int gates) {
  const std::string rows = std::to_string(32 * gates);
  return "ws = Constant <value_ints = [1, " + rows + ", 8]>() W = ConstantOfShape <value = float[1] {0.01}>(ws) " +
         "rs = Constant <value_ints = [1, " + rows + ", 32]>() R = ConstantOfShape <value = float[1] {0.01}>(rs) ";
}
Session Rows(const std::string& op, int gates) {
  return FromText("g (float[T,N,8] x, int32[N] lens) => (float[T,1,N,32] y) { " + Weights(gates) + "y = " + op +
                  " <hidden_size = 32>(x, W, R, \"\", lens) }");
}
ValueMap RowsFeed(Random& random) {
  const int64_t rows = random.UpTo(3), steps = random.UpTo(1000);
  return {{"x", Random::Floats(Shape{steps, rows, 8})}, {"lens", random.Lengths(rows, steps)}};
}
Session Map() {
  return FromText("g (seq(float[T,1,8]) s) => (seq(float[T,1,1,32]) t) { " + Weights(4) +
                  "t = SequenceMap <body = b (float[T,1,8] x) => (float[T,1,1,32] y) { y = LSTM <hidden_size = 32>(x, "
                  "W, R) }>(s) }");
}

// `run` a tenth of the times to warm up, then all of them.
template <class Fn>
void ExpectFlat(const char* variable, int otherwise, const Fn& run) {
  const int times = CountFrom(variable, otherwise);
  for (int i = 0; i < times / 10 + 200; ++i) run();
  const double warm_peak = StatusOf("VmHWM"), warm = StatusOf("VmRSS");
  ResetPeak();
  for (int i = 0; i < times; ++i) run();
  const double after = StatusOf("VmRSS"), peak = StatusOf("VmHWM");
  std::printf("%s: %d times: resident %.1f MB, was %.1f; peak %.1f MB, was %.1f\n",
              testing::UnitTest::GetInstance()->current_test_info()->name(), times, after, warm, peak, warm_peak);
  if (ONNXSEQ_SANITIZED) return;  // which keep what is freed
  EXPECT_LT(after, 1.05 * warm);
  EXPECT_LT(peak, 1.05 * warm_peak);
}

constexpr const char* kRuns = "ONNXSEQ_MEMORY_RUNS";

void ExpectFlatRuns(const Session& session, ValueMap (*feed)(Random&)) {
  Random random;
  ExpectFlat(kRuns, 2000, [&] { ASSERT_EQ(session.Run(feed(random)).size(), 1u); });
}

TEST(FlatMemory, RunsOfLstm) { ExpectFlatRuns(Rows("LSTM", 4), RowsFeed); }
TEST(FlatMemory, RunsOfGru) { ExpectFlatRuns(Rows("GRU", 3), RowsFeed); }

TEST(FlatMemory, RunsOfSequenceMap) {
  ExpectFlatRuns(Map(), [](Random& random) -> ValueMap {
    std::vector<Tensor> elements;
    for (int64_t i = random.UpTo(5); i > 0; --i) elements.push_back(Random::Floats(Shape{random.UpTo(1000), 1, 8}));
    return {{"s", Sequence(std::move(elements))}};
  });
}

TEST(FlatMemory, RunsOfStreams) {
  const Session session = FromText("g (float[T,N,8] x, float[1,N,32] h) => (float[T,1,N,32] y, float[1,N,32] hn) { " +
                                   Weights(3) + "y, hn = GRU <hidden_size = 32>(x, W, R, \"\", \"\", h) }");
  StreamGroup group(session, {.states = {{"h", "hn"}}, .batch = "N"});
  std::vector<Stream> streams;
  for (int i = 0; i < 4; ++i) streams.push_back(group.Open());
  Random random;
  ExpectFlat(kRuns, 2000, [&] {
    const Tensor piece = Random::Floats(Shape{random.UpTo(1000), 1, 8});
    std::vector<StreamGroup::Step> steps;
    for (int64_t i = random.UpTo(4); i > 0; --i)
      steps.push_back({&streams[static_cast<size_t>(i - 1)], {{"x", piece}}});
    ASSERT_EQ(group.Run(steps).size(), steps.size());
    // Streams come and go.
    streams[static_cast<size_t>(random.UpTo(4) - 1)] = group.Open();
  });
}

TEST(FlatMemory, Sessions) {
  Random random;
  ExpectFlat("ONNXSEQ_MEMORY_SESSIONS", 200, [&] {
    ASSERT_EQ(Rows("LSTM", 4).Run(RowsFeed(random)).size(), 1u);
    const Tensor element = Random::Floats(Shape{random.UpTo(100), 1, 8});
    ASSERT_EQ(Map().Run({{"s", Sequence(std::vector<Tensor>(5, element))}}).size(), 1u);
  });
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
