// SPDX-License-Identifier: Apache-2.0
// The LSTM kernel on the rows of the performance table: N, T, H (= I), directions, threads; `lengths` = uniform
// in 1..T; and GRU and RNN on some of them. Each case is checked against the plain reference before it is timed.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "base/cpu_features.h"
#include "base/thread_team.h"
#include "kernels/gru/gru.h"
#include "kernels/gru/gru_reference.h"
#include "kernels/lstm/lstm.h"
#include "kernels/lstm/lstm_reference.h"
#include "kernels/rnn/rnn.h"
#include "kernels/rnn/rnn_reference.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

std::vector<float> Random(std::mt19937& engine, int64_t size, float bound) {
  std::uniform_real_distribution<float> distribution(-bound, bound);
  std::vector<float> values(static_cast<size_t>(size));
  for (float& value : values) value = distribution(engine);
  return values;
}

template <class Kind>
struct Case {
  static constexpr int64_t kGates = Kind::kGates;
  int64_t rows, steps, hidden, directions;
  typename Kind::Cell cell;
  std::vector<float> x, w, r, b, y;
  std::vector<int32_t> lengths;
  std::vector<PackedRecurrent<Kind, float>> packed;
  std::vector<RecurrentDirection<Kind, float>> runs;

  Case(int64_t n, int64_t t, int64_t h, int64_t d, bool with_lengths, const typename Kind::Cell& of)
      : rows(n), steps(t), hidden(h), directions(d), cell(of) {
    std::mt19937 engine(7);
    const float bound = 1 / std::sqrt(static_cast<float>(h));
    x = Random(engine, t * n * h, 1);
    w = Random(engine, d * kGates * h * h, bound);
    r = Random(engine, d * kGates * h * h, bound);
    b = Random(engine, d * kGates * h, bound);
    y.resize(static_cast<size_t>(t * d * n * h));
    if (with_lengths) {
      lengths.resize(static_cast<size_t>(n));
      for (int32_t& length : lengths)
        length = std::uniform_int_distribution<int32_t>(1, static_cast<int32_t>(t))(engine);
    }
    packed.reserve(static_cast<size_t>(d));
    for (int64_t i = 0; i < d; ++i) {
      packed.emplace_back(cell, Weights(i));
      runs.push_back({&packed.back(), Io(i, y.data())});
    }
  }

  typename Kind::template Weights<float> Weights(int64_t direction) const {
    typename Kind::template Weights<float> weights;
    weights.input_size = weights.hidden_size = hidden;
    weights.w = w.data() + direction * kGates * hidden * hidden;
    weights.r = r.data() + direction * kGates * hidden * hidden;
    weights.wb = b.data() + direction * kGates * hidden;
    return weights;
  }

  // ONNX's layout 0.
  RecurrentSequence<float> Io(int64_t direction, float* out) const {
    RecurrentSequence<float> io;
    io.steps = steps;
    io.rows = rows;
    io.reverse = direction == 1;
    io.x = x.data();
    io.x_row = hidden;
    io.x_step = rows * hidden;
    io.lengths = lengths.empty() ? nullptr : lengths.data();
    io.y = out + direction * rows * hidden;
    io.y_row = hidden;
    io.y_step = directions * rows * hidden;
    return io;
  }

  // The largest difference from the reference, over the first rows and steps of large cases.
  bool Agrees(std::span<std::byte> scratch, ThreadTeam& team, int threads) {
    RunRecurrent<Kind, float>(runs, scratch, &team, threads);
    std::vector<float> expected(y.size(), -1);
    for (int64_t i = 0; i < directions; ++i) {
      RecurrentSequence<float> io = Io(i, expected.data());
      // All steps of the first row: the plain loops would take minutes for all rows of the large cases.
      io.rows = std::min<int64_t>(rows, 1);
      RecurrentReference(cell, Weights(i), io);
    }
    for (int64_t t = 0; t < steps; ++t)
      for (int64_t i = 0; i < directions; ++i)
        for (int64_t j = 0; j < hidden; ++j) {
          const auto at = static_cast<size_t>((t * directions + i) * rows * hidden + j);
          if (!(std::abs(y[at] - expected[at]) <= 1e-5f)) return false;
        }
    return true;
  }
};

template <class Kind>
void Run(benchmark::State& state, bool with_lengths, const typename Kind::Cell& cell = {}) {
  Case<Kind> test(state.range(0), state.range(1), state.range(2), state.range(3), with_lengths, cell);
  const int threads = static_cast<int>(state.range(4));
  static ThreadTeam team(8);
  const DenormalScope scope(true);
  const std::span<const RecurrentDirection<Kind, float>> runs = test.runs;
  const auto size = static_cast<size_t>(RecurrentScratchBytes(runs, threads).value());
  AlignedArray<char> storage = MakeAlignedArray<char>(static_cast<int64_t>(size));
  const std::span<std::byte> scratch(reinterpret_cast<std::byte*>(storage.get()), size);
  if (!test.Agrees(scratch, team, threads)) {
    state.SkipWithError("differs from the reference");
    std::exit(1);
  }
  for (auto _ : state) RunRecurrent(runs, scratch, &team, threads);
  double done = 0;
  for (int64_t i = 0; i < test.rows; ++i)
    done += with_lengths ? static_cast<double>(test.lengths[static_cast<size_t>(i)]) : static_cast<double>(test.steps);
  done *= 4.0 * Kind::kGates * static_cast<double>(test.hidden * test.hidden * test.directions);
  state.counters["GF/s"] = benchmark::Counter(done * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

void Rows(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"N", "T", "H", "D", "threads"})->Unit(benchmark::kMicrosecond)->UseRealTime();
  for (const int64_t threads : {1, 2})
    for (const auto& row : std::vector<std::vector<int64_t>>{{1, 1, 128, 1},
                                                             {1, 100, 128, 1},
                                                             {1, 100, 128, 2},
                                                             {1, 100, 256, 1},
                                                             {1, 50, 512, 1},
                                                             {1, 50, 1024, 1},
                                                             {4, 100, 256, 1},
                                                             {8, 100, 256, 1},
                                                             {32, 50, 256, 1},
                                                             {32, 50, 512, 1},
                                                             {64, 25, 1024, 1}})
      bench->Args({row[0], row[1], row[2], row[3], threads});
}
void SomeRows(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"N", "T", "H", "D", "threads"})->Unit(benchmark::kMicrosecond)->UseRealTime();
  for (const int64_t threads : {1, 2}) {
    bench->Args({1, 100, 128, 1, threads});
    bench->Args({32, 50, 256, 1, threads});
  }
}
void RunLstm(benchmark::State& state, bool with_lengths) { Run<Lstm>(state, with_lengths); }
void RunRnn(benchmark::State& state) { Run<Rnn>(state, false); }
void RunGru(benchmark::State& state, bool linear_before_reset) {
  GruCell cell;
  cell.linear_before_reset = linear_before_reset;
  Run<Gru>(state, false, cell);
}

BENCHMARK_CAPTURE(RunLstm, full, false)->Apply(Rows);
BENCHMARK_CAPTURE(RunGru, reset, false)->Apply(SomeRows);
BENCHMARK_CAPTURE(RunGru, linear, true)->Apply(SomeRows);
BENCHMARK(RunRnn)->Apply(SomeRows);
BENCHMARK_CAPTURE(RunLstm, lengths, true)
    ->ArgNames({"N", "T", "H", "D", "threads"})
    ->Args({32, 50, 256, 1, 1})
    ->Args({32, 50, 256, 1, 2})
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels

BENCHMARK_MAIN();
