// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "base/thread_team.h"
#include "kernels/aligned_array.h"
#include "kernels/gru/gru.h"
#include "kernels/gru/gru_reference.h"
#include "kernels/isa_test_util.h"
#include "kernels/lstm/lstm.h"
#include "kernels/lstm/lstm_reference.h"
#include "kernels/recurrent/recurrent.h"
#include "kernels/rnn/rnn.h"
#include "kernels/rnn/rnn_reference.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// RunRecurrent on scratch of exactly the size it asks for, full of NaN, with a guard behind it.
template <class Kind, class T>
void RunWithScratch(const std::vector<RecurrentDirection<Kind, T>>& runs, ThreadTeam* team = nullptr, int threads = 1) {
  const int64_t size = RecurrentScratchBytes<Kind, T>(runs, threads).value();
  constexpr int64_t kGuard = 64;
  const AlignedArray<unsigned char> scratch = MakeAlignedArray<unsigned char>(size + kGuard);
  std::memset(scratch.get(), 0xFF, static_cast<size_t>(size + kGuard));
  RunRecurrent<Kind, T>(runs, std::span(reinterpret_cast<std::byte*>(scratch.get()), static_cast<size_t>(size)), team,
                        threads);
  for (int64_t i = 0; i < kGuard; ++i) ASSERT_EQ(scratch[size + i], 0xFF) << "wrote beyond the scratch";
}

inline constexpr float kPad = 12345.0f;  // what outputs hold where nothing may be written

// A kind and the functions of its cell that may be chosen.
struct LstmTraits {
  using Kind = Lstm;
  static constexpr Activation Lstm::Cell::* kFunctions[] = {&LstmCell::f, &LstmCell::g, &LstmCell::h};
  static void Vary(LstmCell&, uint32_t) {}
};
struct GruTraits {
  using Kind = Gru;
  static constexpr Activation Gru::Cell::* kFunctions[] = {&GruCell::f, &GruCell::g};
  static void Vary(GruCell& cell, uint32_t seed) { cell.linear_before_reset = seed % 2 == 1; }
};
struct RnnTraits {
  using Kind = Rnn;
  static constexpr Activation Rnn::Cell::* kFunctions[] = {&RnnCell::f};
  static void Vary(RnnCell&, uint32_t) {}
};

// One direction with all its data; x is [row][step][I] with `gap` unused numbers after each, y alike. Every array
// begins `shift` numbers after where it is aligned.
template <class Traits, class T>
struct Problem {
  using Kind = typename Traits::Kind;
  int64_t rows, steps, inputs, hidden, shift;
  typename Kind::Cell cell;
  bool reverse = false, with_peepholes = false;
  std::vector<T> x, w, r, wb, rb, h0, c0, p;
  std::vector<int32_t> lengths;
  static constexpr int64_t kGap = 3;

  Problem(uint32_t seed, int64_t n, int64_t t, int64_t i, int64_t h)
      : rows(n), steps(t), inputs(i), hidden(h), shift(seed % 3) {
    std::mt19937 engine(seed);
    const auto fill = [&](std::vector<T>& values, int64_t size, double bound) {
      std::uniform_real_distribution<double> distribution(-bound, bound);
      values.resize(static_cast<size_t>(size + shift));
      for (T& value : values) value = static_cast<T>(distribution(engine));
    };
    const double bound = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(1, h)));
    const int64_t gates = Kind::kGates;
    fill(x, n * t * (i + kGap), 2);
    fill(w, gates * h * i, bound);
    fill(r, gates * h * h, bound);
    fill(wb, gates * h, 0.5);
    fill(rb, gates * h, 0.5);
    fill(h0, n * h, 1);
    fill(c0, n * h, 1);
    fill(p, 3 * h, 0.5);
    lengths.resize(static_cast<size_t>(n));
    for (int32_t& length : lengths) length = std::uniform_int_distribution<int32_t>(0, static_cast<int32_t>(t))(engine);
    Traits::Vary(cell, seed);
  }

  typename Kind::template Weights<T> Weights() const {
    typename Kind::template Weights<T> weights;
    weights.input_size = inputs;
    weights.hidden_size = hidden;
    weights.w = w.data() + shift;
    weights.r = r.data() + shift;
    weights.wb = wb.data() + shift;
    weights.rb = rb.data() + shift;
    if constexpr (Kind::kHasCellState) {
      if (with_peepholes) weights.p = p.data() + shift;
    }
    return weights;
  }
};

template <class T>
struct Outputs {
  std::vector<T> y, yh, yc;
  friend bool operator==(const Outputs&, const Outputs&) = default;
};

template <class Traits, class T>
RecurrentSequence<T> Io(const Problem<Traits, T>& problem, Outputs<T>& out, bool with_lengths) {
  const int64_t gap = Problem<Traits, T>::kGap, shift = problem.shift;
  const bool has_c = Traits::Kind::kHasCellState;
  out.y.assign(static_cast<size_t>(problem.rows * problem.steps * (problem.hidden + gap) + shift), T(kPad));
  out.yh.assign(static_cast<size_t>(problem.rows * problem.hidden + shift), T(kPad));
  if (has_c) out.yc = out.yh;
  RecurrentSequence<T> io;
  io.steps = problem.steps;
  io.rows = problem.rows;
  io.reverse = problem.reverse;
  io.x = problem.x.data() + shift;
  io.x_step = problem.inputs + gap;
  io.x_row = problem.steps * io.x_step;
  if (with_lengths) io.lengths = problem.lengths.data();
  io.h0 = problem.h0.data() + shift;
  io.h0_row = io.c0_row = io.yh_row = io.yc_row = problem.hidden;
  io.y = out.y.data() + shift;
  io.y_step = problem.hidden + gap;
  io.y_row = problem.steps * io.y_step;
  io.yh = out.yh.data() + shift;
  if (has_c) {
    io.c0 = problem.c0.data() + shift;
    io.yc = out.yc.data() + shift;
  }
  return io;
}

template <class Traits, class T>
Outputs<T> RunReference(const Problem<Traits, T>& problem, bool with_lengths,
                        std::vector<T> (*seen)(const T*, int64_t) = AsItIs<T>) {
  Outputs<T> out;
  RecurrentReference(problem.cell, problem.Weights(), Io(problem, out, with_lengths), seen);
  return out;
}

template <class Traits, class T>
Outputs<T> RunKernel(const Problem<Traits, T>& problem, bool with_lengths, ThreadTeam* team = nullptr, int threads = 1,
                     WeightStorage storage = WeightStorage::kFull) {
  using Kind = typename Traits::Kind;
  Outputs<T> out;
  const PackedRecurrent<Kind, T> packed(problem.cell, problem.Weights(), true, storage);
  RunWithScratch<Kind, T>({{&packed, Io(problem, out, with_lengths)}}, team, threads);
  return out;
}

// Rounding errors of a sum of k terms of size about 1/sqrt(k), carried over a few steps by cells that do not amplify
// them.
template <class T>
void ExpectNear(const Outputs<T>& got, const Outputs<T>& expected, double factor = 64) {
  const double tolerance = factor * static_cast<double>(std::numeric_limits<T>::epsilon());
  const auto check = [&](const char* name, const std::vector<T>& a, const std::vector<T>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i)
      ASSERT_NEAR(a[i], b[i], tolerance * std::max(1.0, std::abs(static_cast<double>(b[i])))) << name << " at " << i;
  };
  check("y", got.y, expected.y);
  check("yh", got.yh, expected.yh);
  check("yc", got.yc, expected.yc);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
