// SPDX-License-Identifier: Apache-2.0
#include "kernels/lstm/lstm.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <tuple>
#include <utility>

#include "kernels/lstm/lstm_reference.h"
#include "kernels/lstm/lstm_test_util.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

constexpr float kPad = 12345.0f;  // what outputs hold where nothing may be written

// One direction with all its data; x is [row][step][I] with `gap` unused numbers after each, y alike.
template <class T>
struct Problem {
  int64_t rows, steps, inputs, hidden;
  LstmCell cell;
  bool reverse = false, with_peepholes = false;
  std::vector<T> x, w, r, wb, rb, p, h0, c0;
  std::vector<int32_t> lengths;
  static constexpr int64_t kGap = 3;

  Problem(uint32_t seed, int64_t n, int64_t t, int64_t i, int64_t h) : rows(n), steps(t), inputs(i), hidden(h) {
    std::mt19937 engine(seed);
    const auto fill = [&](std::vector<T>& values, int64_t size, double bound) {
      std::uniform_real_distribution<double> distribution(-bound, bound);
      values.resize(static_cast<size_t>(size));
      for (T& value : values) value = static_cast<T>(distribution(engine));
    };
    const double bound = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(1, h)));
    fill(x, n * t * (i + kGap), 2);
    fill(w, 4 * h * i, bound);
    fill(r, 4 * h * h, bound);
    fill(wb, 4 * h, 0.5);
    fill(rb, 4 * h, 0.5);
    fill(p, 3 * h, 0.5);
    fill(h0, n * h, 1);
    fill(c0, n * h, 1);
    lengths.resize(static_cast<size_t>(n));
    for (int32_t& length : lengths) length = std::uniform_int_distribution<int32_t>(0, static_cast<int32_t>(t))(engine);
  }

  LstmWeights<T> Weights() const {
    LstmWeights<T> weights;
    weights.input_size = inputs;
    weights.hidden_size = hidden;
    weights.w = w.data();
    weights.r = r.data();
    weights.wb = wb.data();
    weights.rb = rb.data();
    if (with_peepholes) weights.p = p.data();
    return weights;
  }
};

template <class T>
struct Outputs {
  std::vector<T> y, yh, yc;
  friend bool operator==(const Outputs&, const Outputs&) = default;
};

template <class T>
LstmSequence<T> Io(const Problem<T>& problem, Outputs<T>& out, bool with_lengths) {
  const int64_t gap = Problem<T>::kGap;
  out.y.assign(static_cast<size_t>(problem.rows * problem.steps * (problem.hidden + gap)), T(kPad));
  out.yh.assign(static_cast<size_t>(problem.rows * problem.hidden), T(kPad));
  out.yc = out.yh;
  LstmSequence<T> io;
  io.steps = problem.steps;
  io.rows = problem.rows;
  io.reverse = problem.reverse;
  io.x = problem.x.data();
  io.x_step = problem.inputs + gap;
  io.x_row = problem.steps * io.x_step;
  if (with_lengths) io.lengths = problem.lengths.data();
  io.h0 = problem.h0.data();
  io.c0 = problem.c0.data();
  io.h0_row = io.c0_row = io.yh_row = io.yc_row = problem.hidden;
  io.y = out.y.data();
  io.y_step = problem.hidden + gap;
  io.y_row = problem.steps * io.y_step;
  io.yh = out.yh.data();
  io.yc = out.yc.data();
  return io;
}

template <class T>
Outputs<T> RunReference(const Problem<T>& problem, bool with_lengths) {
  Outputs<T> out;
  LstmReference(problem.cell, problem.Weights(), Io(problem, out, with_lengths));
  return out;
}

template <class T>
Outputs<T> RunKernel(const Problem<T>& problem, bool with_lengths, ThreadTeam* team = nullptr, int threads = 1) {
  Outputs<T> out;
  const PackedLstm<T> packed(problem.cell, problem.Weights());
  RunWithScratch<T>({{&packed, Io(problem, out, with_lengths)}}, team, threads);
  return out;
}

// Rounding errors of a sum of k terms of size about 1/sqrt(k), carried over a few steps by gates that do not amplify
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

// The variations of a cell that take different ways through the kernel.
std::vector<std::pair<LstmCell, bool>> Cells() {
  LstmCell clipped, forget, input, other, all;
  clipped.clip = 0.3;
  forget.coupling = LstmCoupling::kForgetFromInput;
  input.coupling = LstmCoupling::kInputFromForget;
  other.f = Activation::Default(ActivationKind::kHardSigmoid);
  other.g = Activation::Default(ActivationKind::kSoftsign);
  other.h = Activation{ActivationKind::kScaledTanh, 1.25, 0.5};
  all = other;
  all.clip = 0.7;
  all.coupling = LstmCoupling::kForgetFromInput;
  return {{LstmCell(), false}, {LstmCell(), true}, {clipped, false}, {forget, false},
          {input, true},       {other, false},     {all, true}};
}

template <class T>
void CompareSizes(const std::vector<int64_t>& sizes) {
  uint32_t seed = 1;
  for (const int64_t hidden : sizes)
    for (const int64_t inputs : {int64_t{0}, hidden, int64_t{19}})
      for (const int64_t rows : {0, 1, 2, 5, 9})
        for (const int64_t steps : {0, 1, 2, 7}) {
          Problem<T> problem(++seed, rows, steps, inputs, hidden);
          problem.reverse = seed % 3 == 0;
          const bool with_lengths = seed % 2 == 0;
          const auto cells = Cells();
          std::tie(problem.cell, problem.with_peepholes) = cells[seed % cells.size()];
          SCOPED_TRACE(testing::Message()
                       << "seed " << seed << " N " << rows << " T " << steps << " I " << inputs << " H " << hidden);
          ExpectNear(RunKernel(problem, with_lengths), RunReference(problem, with_lengths));
          if (testing::Test::HasFatalFailure()) return;
        }
}

TEST(Lstm, FloatEqualsReferenceUnderEachIsa) {
  ForEachIsa([] { CompareSizes<float>({1, 3, 8, 17, 33, 70}); });
}

TEST(Lstm, DoubleEqualsReferenceUnderEachIsa) {
  ForEachIsa([] { CompareSizes<double>({1, 3, 8, 17, 33}); });
}

TEST(Lstm, EveryCellVariation) {
  ForEachIsa([] {
    for (const auto& [cell, peepholes] : Cells())
      for (const bool reverse : {false, true}) {
        Problem<float> problem(77, 4, 5, 6, 21);
        problem.cell = cell;
        problem.with_peepholes = peepholes;
        problem.reverse = reverse;
        ExpectNear(RunKernel(problem, true), RunReference(problem, true));
      }
  });
}

TEST(Lstm, EveryActivationInEveryPlace) {
  for (int kind = 0; kind < kActivationKinds; ++kind) {
    const Activation activation = Activation::Default(static_cast<ActivationKind>(kind));
    for (const auto place : {&LstmCell::f, &LstmCell::g, &LstmCell::h}) {
      Problem<float> problem(static_cast<uint32_t>(kind) + 5, 3, 3, 4, 18);
      problem.cell.*place = activation;
      SCOPED_TRACE(ActivationName(activation.kind));
      ExpectNear(RunKernel(problem, false), RunReference(problem, false), 256);
    }
  }
}

TEST(Lstm, ClipThatIsNoBoundIsOff) {
  Problem<float> problem(3, 2, 3, 4, 9);
  const auto expected = RunKernel(problem, false);
  for (const double clip : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    problem.cell.clip = clip;
    EXPECT_EQ(RunKernel(problem, false), expected) << clip;
    EXPECT_EQ(RunReference(problem, false), RunReference(Problem<float>(3, 2, 3, 4, 9), false)) << clip;
  }
  problem.cell.clip = 1e300;  // beyond float: on, but holds nothing back
  ExpectNear(RunKernel(problem, false), expected, 4);
}

// A batch is its rows one by one, bit for bit, whatever the lengths.
TEST(Lstm, BatchIsItsRows) {
  ForEachIsa([] {
    for (const int64_t rows : {2, 3, 4, 5, 7, 13}) {
      const Problem<float> batch(static_cast<uint32_t>(rows), rows, 6, 11, 37);
      const auto expected = RunKernel(batch, true);
      for (int64_t row = 0; row < rows; ++row) {
        Problem<float> single = batch;
        single.rows = 1;
        const auto part = [&](const std::vector<float>& values) {
          const auto each = static_cast<int64_t>(values.size()) / rows;
          return std::vector<float>(values.begin() + row * each, values.begin() + (row + 1) * each);
        };
        single.x = part(batch.x);
        single.h0 = part(batch.h0);
        single.c0 = part(batch.c0);
        single.lengths = {batch.lengths[row]};
        EXPECT_EQ(RunKernel(single, true), (Outputs<float>{part(expected.y), part(expected.yh), part(expected.yc)}))
            << "row " << row << " of " << rows;
      }
    }
  });
}

TEST(Lstm, ReverseIsFlippedInput) {
  Problem<float> problem(9, 3, 5, 4, 20);
  const int64_t x_step = problem.inputs + Problem<float>::kGap, y_step = problem.hidden + Problem<float>::kGap;
  const auto flip = [&](const std::vector<float>& values, int64_t width) {
    std::vector<float> flipped(values.size());
    for (int64_t row = 0; row < problem.rows; ++row)
      for (int64_t step = 0; step < problem.steps; ++step)
        std::copy_n(values.begin() + (row * problem.steps + step) * width, width,
                    flipped.begin() + (row * problem.steps + problem.steps - 1 - step) * width);
    return flipped;
  };
  const auto forward = RunKernel(problem, false);
  problem.x = flip(problem.x, x_step);
  problem.reverse = true;
  auto reverse = RunKernel(problem, false);
  reverse.y = flip(reverse.y, y_step);
  EXPECT_EQ(reverse, forward);
}

// A sequence cut into calls that hand on their states is the sequence in one call, bit for bit.
TEST(Lstm, StreamedChunksEqualOneCall) {
  const Problem<float> whole(21, 3, 12, 5, 34);
  const auto expected = RunKernel(whole, false);
  for (const std::vector<int64_t>& cuts : {std::vector<int64_t>{1, 1, 10}, {5, 7}, {4, 4, 4}, {12}, {6, 0, 6}}) {
    Outputs<float> out;
    LstmSequence<float> io = Io(whole, out, false);
    const PackedLstm<float> packed(whole.cell, whole.Weights());
    for (const int64_t steps : cuts) {
      io.steps = steps;
      RunWithScratch<float>({{&packed, io}});
      io.x += steps * io.x_step;
      io.y += steps * io.y_step;
      io.h0 = io.yh;  // in place
      io.c0 = io.yc;
    }
    EXPECT_EQ(out, expected);
  }
}

// Large enough for each way of sharing the work: hidden units, rows, directions.
TEST(Lstm, ThreadsDoNotChangeABit) {
  ThreadTeam team(4);
  struct Size {
    int64_t rows, steps, inputs, hidden;
  };
  for (const Size& size : {Size{1, 40, 16, 160}, Size{12, 20, 30, 100}, Size{70, 30, 16, 20}, Size{3, 4, 5, 6}})
    for (const bool with_lengths : {false, true}) {
      Problem<float> first(11, size.rows, size.steps, size.inputs, size.hidden),
          second(12, size.rows, size.steps, size.inputs, size.hidden);
      second.reverse = true;
      const auto one = RunKernel(first, with_lengths), two = RunKernel(second, with_lengths);
      const PackedLstm<float> first_packed(first.cell, first.Weights()), second_packed(second.cell, second.Weights());
      for (const int threads : {1, 2, 3, 4}) {
        EXPECT_EQ(RunKernel(first, with_lengths, &team, threads), one) << threads;
        Outputs<float> first_out, second_out;
        RunWithScratch<float>({{&first_packed, Io(first, first_out, with_lengths)},
                               {&second_packed, Io(second, second_out, with_lengths)}},
                              &team, threads);
        EXPECT_EQ(first_out, one) << threads;
        EXPECT_EQ(second_out, two) << threads;
        // Asked for threads but inside a busy team: the same on the caller alone.
        team.ParallelFor(2, 1,
                         [&](int64_t, int64_t) { EXPECT_EQ(RunKernel(first, with_lengths, &team, threads), one); });
        EXPECT_EQ(RunKernel(first, with_lengths, nullptr, threads), one) << "no team, " << threads;
      }
    }
}

TEST(Lstm, PaddingIsNeverReadAndYThereIsZero) {
  for (const bool reverse : {false, true}) {
    Problem<float> problem(31, 4, 5, 3, 10);
    problem.reverse = reverse;
    problem.lengths = {5, 2, 0, 3};
    const auto clean = RunKernel(problem, true);
    const int64_t x_step = problem.inputs + Problem<float>::kGap;
    for (int64_t row = 0; row < 4; ++row)
      for (int64_t step = problem.lengths[row]; step < 5; ++step)
        std::fill_n(problem.x.begin() + (row * 5 + step) * x_step, problem.inputs, std::nanf(""));
    EXPECT_EQ(RunKernel(problem, true), clean);
    const int64_t y_step = problem.hidden + Problem<float>::kGap;
    for (int64_t row = 0; row < 4; ++row)
      for (int64_t step = 0; step < 5; ++step)
        for (int64_t j = 0; j < y_step; ++j) {
          const float value = clean.y[(row * 5 + step) * y_step + j];
          if (j >= problem.hidden)
            EXPECT_EQ(value, kPad) << "wrote between the rows";
          else if (step >= problem.lengths[row])
            EXPECT_EQ(value, 0.0f);
          else
            EXPECT_NE(value, 0.0f);
        }
    // The state after a row's last valid step: for reverse that is step 0, else the last one.
    for (int64_t row : {0, 1, 3})
      for (int64_t j = 0; j < problem.hidden; ++j)
        EXPECT_EQ(clean.yh[row * problem.hidden + j],
                  clean.y[(row * 5 + (reverse ? 0 : problem.lengths[row] - 1)) * y_step + j]);
  }
}

TEST(Lstm, LengthZeroGivesZeroStatesButNoStepsGiveTheInitialOnes) {
  Problem<float> problem(41, 3, 4, 3, 10);
  problem.lengths = {0, 4, 0};
  const auto out = RunKernel(problem, true);
  for (const int64_t row : {0, 2})
    for (int64_t j = 0; j < 10; ++j) {
      EXPECT_EQ(out.yh[row * 10 + j], 0.0f);
      EXPECT_EQ(out.yc[row * 10 + j], 0.0f);
    }
  Problem<float> none(42, 3, 0, 3, 10);
  none.lengths = {0, 7, -1};  // not looked at when there is no step
  EXPECT_EQ(RunKernel(none, true).yh, none.h0);
  EXPECT_EQ(RunKernel(none, true).yc, none.c0);
  EXPECT_EQ(RunReference(none, true).yh, none.h0);
  EXPECT_EQ(RunReference(none, true).yc, none.c0);
}

TEST(Lstm, AbsentPartsAreZerosAndUnwantedOutputsAreLeftOut) {
  Problem<float> problem(51, 3, 4, 5, 18);
  Problem<float> zeros = problem;
  for (auto* part : {&zeros.h0, &zeros.c0, &zeros.wb, &zeros.rb, &zeros.p}) std::fill(part->begin(), part->end(), 0.0f);
  zeros.with_peepholes = true;
  const auto expected = RunKernel(zeros, false);
  LstmWeights<float> weights = problem.Weights();
  weights.wb = weights.rb = nullptr;
  Outputs<float> out;
  LstmSequence<float> io = Io(problem, out, false);
  io.h0 = io.c0 = nullptr;
  const PackedLstm<float> packed(problem.cell, weights);
  RunWithScratch<float>({{&packed, io}});
  ExpectNear(out, expected, 4);  // zero peepholes take the general path through the cell, and round alike
  const Outputs<float> all = out;
  io.y = nullptr;
  std::fill(out.yh.begin(), out.yh.end(), kPad);
  RunWithScratch<float>({{&packed, io}});
  EXPECT_EQ(out, all);
  io.yh = io.yc = nullptr;
  RunWithScratch<float>({{&packed, io}});
}

TEST(Lstm, SaturatedGatesAndNonFiniteInputs) {
  Problem<float> problem(61, 1, 2, 1, 3);
  std::fill(problem.w.begin(), problem.w.end(), 1.0f);
  std::fill(problem.r.begin(), problem.r.end(), 0.0f);
  std::fill(problem.wb.begin(), problem.wb.end(), 0.0f);
  std::fill(problem.rb.begin(), problem.rb.end(), 0.0f);
  for (const float x : {100.0f, -100.0f, 1e30f, -1e30f, std::numeric_limits<float>::infinity(),
                        -std::numeric_limits<float>::infinity()}) {
    std::fill(problem.x.begin(), problem.x.end(), x);
    const auto out = RunKernel(problem, false), expected = RunReference(problem, false);
    ExpectNear(out, expected, 4);
    for (const float value : out.yc) EXPECT_TRUE(std::isfinite(value)) << x;
  }
  std::fill(problem.x.begin(), problem.x.end(), std::nanf(""));
  for (const float value : RunKernel(problem, false).yh) EXPECT_TRUE(std::isnan(value));
}

TEST(Lstm, DenormalWeightsAreFlushedInTheCopyOrKept) {
  Problem<float> problem(71, 1, 1, 2, 2);
  std::fill(problem.w.begin(), problem.w.end(), 1e-40f);
  const PackedLstm<float> flushed(problem.cell, problem.Weights()), kept(problem.cell, problem.Weights(), false);
  EXPECT_EQ(flushed.data().w[0], 0.0f);
  EXPECT_EQ(kept.data().w[0], 1e-40f);
  EXPECT_EQ(problem.w[0], 1e-40f) << "the original is left alone";
}

TEST(Lstm, PackedWeightsStayBoundToTheirIsa) {
  const Problem<float> problem(81, 2, 3, 4, 21);
  const auto expected = RunReference(problem, false);
  ForEachIsa([&] {
    const PackedLstm<float> packed(problem.cell, problem.Weights());
    SetIsa(Isa::kBaseline);
    Outputs<float> out;
    RunWithScratch<float>({{&packed, Io(problem, out, false)}});
    ExpectNear(out, expected);
  });
}

TEST(Lstm, ScratchThatOverflowsIsNoSize) {
  const Problem<float> problem(91, 1, 1, 1, 1);
  const PackedLstm<float> packed(problem.cell, problem.Weights());
  LstmSequence<float> io;
  io.rows = INT64_MAX / 8;
  io.steps = 1;
  EXPECT_EQ(LstmScratchBytes<float>(std::vector<LstmDirection<float>>{{&packed, io}}, 1), std::nullopt);
}

TEST(LstmOrders, FromNames) {
  EXPECT_EQ(LstmGateOrderFromName("iofc"), kIofc);
  EXPECT_EQ(LstmGateOrderFromName("fico"), kFico);
  EXPECT_EQ(LstmGateOrderFromName("icof"), (LstmGateOrder{0, 2, 3, 1}));
  EXPECT_EQ(LstmGateOrderFromName("ifoc"), (LstmGateOrder{0, 2, 1, 3}));
  EXPECT_EQ(LstmGateOrderFromName("ifco"), (LstmGateOrder{0, 3, 1, 2}));
  EXPECT_EQ(LstmGateOrderFromName("iofx"), std::nullopt);
  EXPECT_EQ(LstmGateOrderFromName("iiof"), std::nullopt);
  EXPECT_EQ(LstmGateOrderFromName(""), std::nullopt);
  EXPECT_EQ(LstmPeepholeOrderFromName("iof"), kIof);
  EXPECT_EQ(LstmPeepholeOrderFromName("fio"), kFio);
  EXPECT_EQ(LstmPeepholeOrderFromName("fi"), std::nullopt);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
