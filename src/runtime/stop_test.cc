// SPDX-License-Identifier: Apache-2.0
// A run that is to end does so soon, inside long kernels too. Each of these would work for many seconds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "runtime/runtime_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using Clock = std::chrono::steady_clock;

// The promise is 50 ms; a busy machine takes its own time.
constexpr std::chrono::milliseconds kSoon{1500};

Value Full(std::initializer_list<int64_t> dims, float value) {
  const Shape shape(dims);
  Tensor t(TensorType::kFloat, shape);
  std::ranges::fill(t.MutableView<float>(), value);
  return t;
}
Value Zeros(std::initializer_list<int64_t> dims) { return Full(dims, 0); }

void EndsSoon(const char* graph, const ValueMap& feeds, const std::string& node) {
  for (const int threads : {1, 2}) {
    SessionOptions options;
    options.threads = threads;
    const Session session = FromText(graph, options);
    std::atomic<bool> cancel{false};
    RunOptions run;
    run.cancel = &cancel;
    Clock::time_point cancelled;
    std::thread canceller([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
      cancelled = Clock::now();
      cancel = true;
    });
    const std::string message = ThrownBy<TimeoutError>([&] { session.Run(feeds, {}, run); });
    const auto ended = Clock::now();
    canceller.join();
    EXPECT_EQ(message, node + ": the run was cancelled");
    EXPECT_LT(ended - cancelled, kSoon);
    RunOptions timed;
    timed.timeout = std::chrono::milliseconds(60);
    const auto begin = Clock::now();
    EXPECT_EQ(ThrownBy<TimeoutError>([&] { session.Run(feeds, {}, timed); }),
              node + ": the run takes longer than its limit of 60 ms");
    EXPECT_LT(Clock::now() - begin, kSoon + *timed.timeout);
  }
}

TEST(StopTest, MatMul) {
  EndsSoon("g (float[M,K] a, float[K,N] b) => (float[M,N] y) { [n] y = MatMul(a, b) }",
           {{"a", Zeros({30000, 1500})}, {"b", Zeros({1500, 6000})}}, "MatMul node \"n\"");
}

TEST(StopTest, Lstm) {
  EndsSoon(
      "g (float[T,N,I] x, float[1,G,I] w, float[1,G,H] r) => (float[T,1,N,H] y) { [n] y = LSTM <hidden_size: int = "
      "256>(x, w, r) }",
      {{"x", Zeros({300000, 4, 8})}, {"w", Zeros({1, 1024, 8})}, {"r", Zeros({1, 1024, 256})}}, "LSTM node \"n\"");
}

TEST(StopTest, Elementwise) {
  EndsSoon("g (float[A,1] x, float[1,B] z) => (float[A] y) { [n] t = Pow(x, z) y = ReduceSum <keepdims: int = 0>(t) }",
           {{"x", Full({20000, 1}, 1.5f)}, {"z", Full({1, 20000}, 0.7f)}}, "Pow node \"n\"");
}

TEST(StopTest, Pool) {
  EndsSoon(
      "g (float[N,C,H,W] x) => (float[N,C,P,Q] y) { [n] y = AveragePool <kernel_shape: ints = [1000, 10000], auto_pad: "
      "string = \"SAME_UPPER\">(x) }",
      {{"x", Zeros({1, 1, 64, 64})}}, "AveragePool node \"n\"");
}

TEST(StopTest, Resize) {
  EndsSoon(
      "g (float[N,C,H,W] x) => (float[N,C,P,Q] y) <float[4] s = {1, 1, 20, 20}> { [n] y = Resize <mode: string = "
      "\"cubic\">(x, , s) }",
      {{"x", Zeros({1, 1, 1000, 1000})}}, "Resize node \"n\"");
}

TEST(StopTest, ResizeToTheNearest) {
  EndsSoon(
      "g (float[N,C,H,W] x) => (float[N,C,P,Q] y) <float[4] s = {1, 1, 8, 8}> { [n] y = Resize <mode: string = "
      "\"nearest\">(x, , s) }",
      {{"x", Zeros({1, 1, 2000, 2000})}}, "Resize node \"n\"");
}

// Elements in an order of their own.
Value Mixed(std::initializer_list<int64_t> dims) {
  Tensor t(TensorType::kFloat, Shape(dims));
  uint32_t bits = 1;
  for (float& element : t.MutableView<float>())
    element = static_cast<float>((bits = bits * 1664525u + 1013904223u) >> 8);
  return t;
}

TEST(StopTest, TopK) {
  for (const char* const k : {"10000000", "1000000"})
    EndsSoon(
        ("g (float[N] x) => (float[K] y, int64[K] i) <int64[1] k = {" + std::string(k) + "}> { [n] y, i = TopK(x, k) }")
            .c_str(),
        {{"x", Mixed({10000000})}}, "TopK node \"n\"");
}

TEST(StopTest, Unique) {
  EndsSoon("g (float[N] x) => (float[M] y) { [n] y = Unique(x) }", {{"x", Mixed({10000000})}}, "Unique node \"n\"");
}

TEST(StopTest, CastToText) {
  // Not more: strings take their time to be given back.
  EndsSoon("g (float[N] x) => (string[N] y) { [n] y = Cast <to: int = 8>(x) }", {{"x", Mixed({4000000})}},
           "Cast node \"n\"");
}

TEST(StopTest, OneHot) {
  EndsSoon("g (float[N] x) => (float[N,D] y) <int64 d = {1000000}, float[2] v = {0, 1}> { [n] y = OneHot(x, d, v) }",
           {{"x", Zeros({300})}}, "OneHot node \"n\"");
}

TEST(StopTest, Multinomial) {
  EndsSoon("g (float[N,C] x) => (int32[N,S] y) { [n] y = Multinomial <sample_size: int = 200000000>(x) }",
           {{"x", Zeros({1, 10})}}, "Multinomial node \"n\"");
}

TEST(StopTest, Determinant) {
  EndsSoon("g (float[N,N] x) => (float y) { [n] y = Det(x) }", {{"x", Mixed({2000, 2000})}}, "Det node \"n\"");
}

TEST(StopTest, Einsum) {
  EndsSoon("g (float[A,A] x) => (float[A,A] y) { [n] y = Einsum <equation: string = \"ij,kl,mn->im\">(x, x, x) }",
           {{"x", Zeros({100, 100})}}, "Einsum node \"n\"");
}

TEST(StopTest, Lrn) {
  EndsSoon("g (float[N,C,H,W] x) => (float[N,C,H,W] y) { [n] y = LRN <size: int = 4095>(x) }",
           {{"x", Zeros({1, 4096, 64, 64})}}, "LRN node \"n\"");
}

TEST(StopTest, DftOfAPrimeLength) {
  EndsSoon("g (float[N,T,P] x) => (float[N,T,Q] y) { [n] y = DFT(x) }", {{"x", Zeros({1, 1000003, 1})}},
           "DFT node \"n\"");
}

TEST(StopTest, Poll) {
  SessionOptions options;
  options.threads = 2;
  const Session session =
      FromText("g (float[M,K] a, float[K,N] b) => (float[M,N] y) { [n] y = MatMul(a, b) }", options);
  const ValueMap feeds{{"a", Zeros({30000, 1500})}, {"b", Zeros({1500, 6000})}};
  int polls = 0;
  const auto caller = std::this_thread::get_id();
  RunOptions run;
  run.poll = [&] {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    return ++polls == 3;
  };
  EXPECT_EQ(ThrownBy<TimeoutError>([&] { session.Run(feeds, {}, run); }), "MatMul node \"n\": the run was cancelled");
  EXPECT_EQ(polls, 3);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
