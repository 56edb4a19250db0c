// SPDX-License-Identifier: Apache-2.0
// What a run costs beside the work: one-node runs, chains, changing shapes, denormal weights, ending early.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "onnx_io/text_parser.h"
#include "onnxseq/errors.h"
#include "onnxseq/session.h"

namespace onnxseq = ONNX_LIGHT_NAMESPACE;

namespace {

using onnxseq::Runner;
using onnxseq::Session;
using onnxseq::Shape;
using onnxseq::Tensor;
using onnxseq::TensorType;

Session FromText(const std::string& graph, int threads = 1) {
  onnxseq::SessionOptions options;
  options.threads = threads;
  return Session::FromModel(onnxseq::ParseModelText("<ir_version: 8, opset_import: [\"\" : 17]>\n" + graph), options);
}

Tensor Full(const Shape& shape, float value) {
  Tensor t(TensorType::kFloat, shape);
  std::ranges::fill(t.MutableView<float>(), value);
  return t;
}

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "overhead_bench: wrong result of %s\n", what);
  std::exit(1);
}

constexpr const char* kAdd = "g (float[4] x, float[4] z) => (float[4] y) { y = Add(x, z) }";

void OneNodeRunner(benchmark::State& state) {
  Runner runner(FromText(kAdd));
  runner.SetInput(0, Full(Shape{4}, 1));
  runner.SetInput(1, Full(Shape{4}, 2));
  for (auto _ : state) runner.Run();
  Require(runner.output(0).tensor().View<float>()[3] == 3, "one node");
}
BENCHMARK(OneNodeRunner);

void OneNodeByName(benchmark::State& state) {
  const Session session = FromText(kAdd);
  const onnxseq::ValueMap feeds = {{"x", Full(Shape{4}, 1)}, {"z", Full(Shape{4}, 2)}};
  for (auto _ : state) benchmark::DoNotOptimize(session.Run(feeds));
}
BENCHMARK(OneNodeByName);

void ChainPerNode(benchmark::State& state) {
  const auto nodes = state.range(0);
  std::string graph = "g (float[4] v0) => (float[4] v" + std::to_string(nodes) + ") {";
  for (int64_t i = 0; i < nodes; ++i) graph += " v" + std::to_string(i + 1) + " = Neg(v" + std::to_string(i) + ")";
  Runner runner(FromText(graph + " }"));
  runner.SetInput(0, Full(Shape{4}, 1));
  for (auto _ : state) runner.Run();
  state.SetItemsProcessed(state.iterations() * nodes);
}
BENCHMARK(ChainPerNode)->Arg(1000);

// Bytes in use after many runs, each with shapes of its own, against those after a tenth of them; without what the last
// few runs have left for the next ones, which is another amount each time.
void ChangingShapes(benchmark::State& state) {
  const Session session = FromText("g (float[N] x) => (float[N] y) { a = Neg(x) b = Add(a, x) y = Mul(b, x) }");
  Runner runner(session);
  const auto in_use = [&] {
    runner.SetInput(0, Full(Shape{1}, 1));
    runner.Run();
    session.Trim();
    return static_cast<double>(mallinfo2().uordblks);
  };
  uint64_t random = 1;
  int64_t runs = 0;
  double early = 0;
  for (auto _ : state) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    runner.SetInput(0, Full(Shape{static_cast<int64_t>(1 + (random >> 52))}, 1));
    runner.Run();
    if (++runs == state.max_iterations / 10) early = in_use();
  }
  state.counters["growth"] = in_use() - early;
}
BENCHMARK(ChangingShapes)->Iterations(100'000);

// The first run with a shape against the least of the next three.
void NewShape(benchmark::State& state, const char* graph, int64_t features) {
  Runner runner(FromText(graph));
  double first = 0, warm = 0;
  int64_t size = 0;
  for (auto _ : state) {
    size = size % 2000 + 7;
    runner.SetInput(0, Full(features == 0 ? Shape{size} : Shape{size, 1, features}, 1));
    double least = 1e9;
    for (int i = 0; i < 4; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      runner.Run();
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      if (i == 0) {
        first += seconds;
      } else {
        least = std::min(least, seconds);
      }
    }
    warm += least;
  }
  state.counters["ratio"] = first / warm;
}
BENCHMARK_CAPTURE(NewShape, elementwise, "g (float[N] x) => (float[N] y) { a = Neg(x) b = Add(a, x) y = Mul(b, x) }", 0)
    ->Iterations(5000);
BENCHMARK_CAPTURE(NewShape, lstm,
                  "g (float[T,1,16] x) => (float[T,1,1,16] y) { n = Constant <value = int64[3] {1, 64, 16}> "
                  "() w = ConstantOfShape(n) y = LSTM <hidden_size: int = 16>(x, w, w) }",
                  16)
    ->Iterations(300);

void LstmWeights(benchmark::State& state, float weight) {
  Runner runner(
      FromText("g (float[50,1,128] x, float[1,512,128] w, float[1,512,128] r) => (float[50,1,1,128] y) { wd = "
               "Identity(w) y = LSTM <hidden_size: int = 128>(x, wd, r) }"));
  runner.SetInput(0, Full(Shape{50, 1, 128}, 0.5f));
  runner.SetInput(1, Full(Shape{1, 512, 128}, weight));
  runner.SetInput(2, Full(Shape{1, 512, 128}, weight));
  for (auto _ : state) runner.Run();
}
BENCHMARK_CAPTURE(LstmWeights, normal, 1e-3f);
BENCHMARK_CAPTURE(LstmWeights, denormal, 1e-40f);

void MatMulWeights(benchmark::State& state, float weight) {
  Runner runner(FromText("g (float[16,512] x, float[512,512] w) => (float[16,512] y) { y = MatMul(x, w) }"));
  runner.SetInput(0, Full(Shape{16, 512}, 0.5f));
  runner.SetInput(1, Full(Shape{512, 512}, weight));
  for (auto _ : state) runner.Run();
}
BENCHMARK_CAPTURE(MatMulWeights, normal, 1e-3f);
BENCHMARK_CAPTURE(MatMulWeights, denormal, 1e-40f);

// From the moment a product that would take seconds is cancelled to its end.
void CancelLatency(benchmark::State& state) {
  Runner runner(FromText("g (float[M,K] x, float[K,N] w) => (float[M,N] y) { y = MatMul(x, w) }"));
  runner.SetInput(0, Full(Shape{20000, 1000}, 0));
  runner.SetInput(1, Full(Shape{1000, 4000}, 0));
  using Clock = std::chrono::steady_clock;
  for (auto _ : state) {
    std::atomic<bool> cancel{false};
    onnxseq::RunOptions options;
    options.cancel = &cancel;
    Clock::time_point cancelled;
    std::thread canceller([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      cancelled = Clock::now();
      cancel = true;
    });
    bool stopped = false;
    try {
      runner.Run(options);
    } catch (const onnxseq::TimeoutError&) {
      stopped = true;
    }
    const auto end = Clock::now();
    canceller.join();
    Require(stopped, "a cancelled run");
    state.SetIterationTime(std::chrono::duration<double>(end - cancelled).count());
  }
}
BENCHMARK(CancelLatency)->UseManualTime()->Iterations(20);

}  // namespace

BENCHMARK_MAIN();
