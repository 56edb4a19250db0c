// SPDX-License-Identifier: Apache-2.0
// What holds for every kind of network; what only an LSTM has is in lstm_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/recurrent/recurrent_test_util.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

template <class Traits, class T>
void CompareSizes(const std::vector<int64_t>& sizes) {
  uint32_t seed = 1;
  for (const int64_t hidden : sizes)
    for (const int64_t inputs : {int64_t{0}, hidden, int64_t{19}})
      for (const int64_t rows : {0, 1, 2, 3, 5, 9, 13})
        for (const int64_t steps : {0, 1, 2, 5}) {
          if (hidden > 40 && inputs == hidden) continue;  // the plain loops would take seconds
          Problem<Traits, T> problem(++seed, rows, steps, inputs, hidden);
          problem.reverse = seed % 5 < 2;
          if (seed % 7 == 0) problem.cell.clip = 0.3;
          const bool with_lengths = seed % 4 < 2;
          SCOPED_TRACE(testing::Message()
                       << "seed " << seed << " N " << rows << " T " << steps << " I " << inputs << " H " << hidden);
          ExpectNear(RunKernel(problem, with_lengths), RunReference(problem, with_lengths));
          if (testing::Test::HasFatalFailure()) return;
        }
}

template <class Traits>
class Recurrent : public testing::Test {};
using Kinds = testing::Types<GruTraits, RnnTraits, LstmTraits>;
TYPED_TEST_SUITE(Recurrent, Kinds);

// 0, 1, N - 1, N, N + 1 and 8 N + 3 units for vectors of N = 4, 8, 16 floats or 2, 4, 8 doubles.
TYPED_TEST(Recurrent, FloatEqualsReferenceUnderEachIsa) {
  ForEachIsa([] { CompareSizes<TypeParam, float>({0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 35, 67, 131}); });
}
TYPED_TEST(Recurrent, DoubleEqualsReferenceUnderEachIsa) {
  ForEachIsa([] { CompareSizes<TypeParam, double>({0, 1, 2, 3, 4, 5, 7, 8, 9, 19, 35, 67}); });
}

TYPED_TEST(Recurrent, EveryActivationInEveryPlace) {
  for (int kind = 0; kind < kActivationKinds; ++kind) {
    const Activation activation = Activation::Default(static_cast<ActivationKind>(kind));
    for (const auto place : TypeParam::kFunctions)
      for (const double clip : {0.0, 0.4})
        for (const uint32_t seed : {4u, 5u}) {
          Problem<TypeParam, float> problem(static_cast<uint32_t>(kind) * 2 + seed, 3, 3, 4, 18);
          problem.cell.*place = activation;
          problem.cell.clip = clip;
          SCOPED_TRACE(ActivationName(activation.kind));
          ExpectNear(RunKernel(problem, false), RunReference(problem, false), 256);
        }
  }
}

TYPED_TEST(Recurrent, ClipThatIsNoBoundIsOff) {
  Problem<TypeParam, float> problem(3, 2, 3, 4, 9);
  const auto expected = RunKernel(problem, false), reference = RunReference(problem, false);
  for (const double clip : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    problem.cell.clip = clip;
    EXPECT_EQ(RunKernel(problem, false), expected) << clip;
    EXPECT_EQ(RunReference(problem, false), reference) << clip;
  }
  problem.cell.clip = 1e300;  // beyond float: on, but holds nothing back
  ExpectNear(RunKernel(problem, false), expected, 4);
}

// A batch is its rows one by one, bit for bit, whatever the lengths: so any part of it, in any order.
TYPED_TEST(Recurrent, BatchIsItsRows) {
  ForEachIsa([] {
    for (const int64_t rows : {2, 3, 4, 5, 7, 13}) {
      Problem<TypeParam, float> batch(static_cast<uint32_t>(rows), rows, 6, 11, 37);
      batch.shift = 0;
      const auto whole = [&](std::vector<float>& values, int64_t size) { values.resize(static_cast<size_t>(size)); };
      whole(batch.x, rows * 6 * (11 + batch.kGap));
      whole(batch.h0, rows * 37);
      whole(batch.c0, rows * 37);
      const auto expected = RunKernel(batch, true);
      for (int64_t row = 0; row < rows; ++row) {
        Problem<TypeParam, float> single = batch;
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

// A sequence cut into calls that hand on their states is the sequence in one call, bit for bit.
TYPED_TEST(Recurrent, StreamedChunksEqualOneCall) {
  using Kind = typename TypeParam::Kind;
  for (const uint32_t seed : {21u, 22u}) {
    const Problem<TypeParam, float> whole(seed, 3, 12, 5, 34);
    const auto expected = RunKernel(whole, false);
    for (const std::vector<int64_t>& cuts : {std::vector<int64_t>{1, 1, 10}, {5, 7}, {12}, {6, 0, 6}}) {
      Outputs<float> out;
      RecurrentSequence<float> io = Io(whole, out, false);
      const PackedRecurrent<Kind, float> packed(whole.cell, whole.Weights());
      for (const int64_t steps : cuts) {
        io.steps = steps;
        RunWithScratch<Kind, float>({{&packed, io}});
        io.x += steps * io.x_step;
        io.y += steps * io.y_step;
        io.h0 = io.yh;  // in place
        io.c0 = io.yc;
      }
      EXPECT_EQ(out, expected);
    }
  }
}

// No initial state is one of zeros, also for weights that are not numbers.
TYPED_TEST(Recurrent, WithoutAnInitialStateItIsZero) {
  using Kind = typename TypeParam::Kind;
  for (const uint32_t seed : {61u, 62u})
    for (const float first : {0.25f, std::numeric_limits<float>::infinity()}) {
      Problem<TypeParam, float> problem(seed, 2, 3, 5, 34);
      std::ranges::fill(problem.h0, 0.0f);
      problem.r[static_cast<size_t>(problem.shift)] = first;
      const Outputs<float> given = RunKernel(problem, false);
      Outputs<float> out;
      RecurrentSequence<float> io = Io(problem, out, false);
      io.h0 = nullptr;
      const PackedRecurrent<Kind, float> packed(problem.cell, problem.Weights());
      RunWithScratch<Kind, float>({{&packed, io}});
      EXPECT_EQ(std::isnan(out.y[static_cast<size_t>(problem.shift)]), !std::isfinite(first));
      for (size_t i = 0; i < out.y.size(); ++i)
        EXPECT_TRUE(out.y[i] == given.y[i] || (std::isnan(out.y[i]) && std::isnan(given.y[i]))) << i;
    }
}

TYPED_TEST(Recurrent, ReverseIsForwardOfTheReversedPrefix) {
  Problem<TypeParam, float> problem(9, 3, 5, 4, 20);
  problem.lengths = {5, 2, 4};
  const auto flip = [&](const std::vector<float>& values, int64_t width) {
    std::vector<float> flipped = values;
    for (int64_t row = 0; row < problem.rows; ++row)
      for (int64_t step = 0; step < problem.lengths[row]; ++step)
        std::copy_n(values.begin() + problem.shift + (row * problem.steps + step) * width, width,
                    flipped.begin() + problem.shift + (row * problem.steps + problem.lengths[row] - 1 - step) * width);
    return flipped;
  };
  const auto forward = RunKernel(problem, true);
  problem.x = flip(problem.x, problem.inputs + problem.kGap);
  problem.reverse = true;
  auto reverse = RunKernel(problem, true);
  reverse.y = flip(reverse.y, problem.hidden + problem.kGap);
  EXPECT_EQ(reverse, forward);
}

// Large enough for each way of sharing the work: hidden units, rows, directions.
TYPED_TEST(Recurrent, ThreadsDoNotChangeABit) {
  using Kind = typename TypeParam::Kind;
  ThreadTeam team(4);
  struct Size {
    int64_t rows, steps, inputs, hidden;
  };
  for (const Size& size : {Size{1, 40, 16, 160}, Size{1, 40, 16, 352}, Size{12, 20, 30, 150}, Size{34, 3, 8, 264},
                           Size{70, 60, 30, 40}, Size{3, 4, 5, 6}})
    for (const bool with_lengths : {false, true})
      for (const uint32_t seed : {11u, 12u}) {
        Problem<TypeParam, float> first(seed, size.rows, size.steps, size.inputs, size.hidden),
            second(seed + 2, size.rows, size.steps, size.inputs, size.hidden);
        second.reverse = true;
        const auto one = RunKernel(first, with_lengths), two = RunKernel(second, with_lengths);
        const PackedRecurrent<Kind, float> first_packed(first.cell, first.Weights()),
            second_packed(second.cell, second.Weights());
        for (const int threads : {1, 2, 3, 4}) {
          EXPECT_EQ(RunKernel(first, with_lengths, &team, threads), one) << threads;
          Outputs<float> first_out, second_out;
          RunWithScratch<Kind, float>({{&first_packed, Io(first, first_out, with_lengths)},
                                       {&second_packed, Io(second, second_out, with_lengths)}},
                                      &team, threads);
          EXPECT_EQ(first_out, one) << threads;
          EXPECT_EQ(second_out, two) << threads;
          // Asked for threads but inside a busy team: the same on the caller alone.
          team.ParallelFor(2, 1,
                           [&](int64_t, int64_t) { EXPECT_EQ(RunKernel(first, with_lengths, &team, threads), one); });
        }
      }
}

TYPED_TEST(Recurrent, PaddingIsNeverReadAndYThereIsZero) {
  for (const bool reverse : {false, true})
    for (const uint32_t seed : {30u, 33u}) {
      Problem<TypeParam, float> problem(seed, 4, 5, 3, 10);
      problem.reverse = reverse;
      problem.lengths = {5, 2, 0, 3};
      const auto clean = RunKernel(problem, true);
      const int64_t x_step = problem.inputs + problem.kGap, y_step = problem.hidden + problem.kGap;
      for (int64_t row = 0; row < 4; ++row)
        for (int64_t step = problem.lengths[row]; step < 5; ++step)
          std::fill_n(problem.x.begin() + problem.shift + (row * 5 + step) * x_step, problem.inputs, std::nanf(""));
      EXPECT_EQ(RunKernel(problem, true), clean);
      for (int64_t row = 0; row < 4; ++row)
        for (int64_t step = 0; step < 5; ++step)
          for (int64_t j = 0; j < y_step; ++j) {
            const float value = clean.y[problem.shift + (row * 5 + step) * y_step + j];
            if (j >= problem.hidden)
              EXPECT_EQ(value, kPad) << "wrote between the rows";
            else if (step >= problem.lengths[row])
              EXPECT_EQ(value, 0.0f);
            else
              EXPECT_NE(value, 0.0f);
          }
    }
}

// Rows anywhere, in any order: each is to the bit what it is alone, and nothing is written where it has no step.
TYPED_TEST(Recurrent, PlacedRowsEndWithTheirLength) {
  using Kind = typename TypeParam::Kind;
  ThreadTeam team(2);
  for (const int64_t rows : {1, 5, 40}) {
    for (const uint32_t seed : {57u, 58u}) {
      Problem<TypeParam, float> problem(seed, rows, 7, 6, 70);
      problem.reverse = seed == 58;
      problem.lengths[0] = 0;
      const PackedRecurrent<Kind, float> packed(problem.cell, problem.Weights());
      Outputs<float> got, alone, reference;
      std::vector<RowPlace> places;
      const auto placed = [&](Outputs<float>& out) {
        RecurrentSequence<float> io = Io(problem, out, true);
        places.clear();
        for (int64_t row = 0; row < rows; ++row) {
          const int64_t to = rows - 1 - row;
          places.push_back({row * io.x_row, to * io.y_row, row * io.h0_row, 0, to * io.yh_row, to * io.yc_row});
        }
        io.places = places.data();
        return io;
      };
      RunWithScratch<Kind, float>({{&packed, placed(got)}}, &team, 2);
      RecurrentReference(problem.cell, problem.Weights(), placed(reference));
      ExpectNear(got, reference);
      const RecurrentSequence<float> all = Io(problem, alone, false);
      for (int64_t row = 0; row < rows; ++row) {
        const int64_t to = rows - 1 - row;
        RecurrentSequence<float> one = all;
        one.rows = 1;
        one.steps = problem.lengths[row];
        one.x += row * one.x_row;
        one.h0 += row * one.h0_row;
        one.y += to * one.y_row;
        one.yh += to * one.yh_row;
        if (Kind::kHasCellState) one.yc += to * one.yc_row;
        RunWithScratch<Kind, float>({{&packed, one}});
      }
      EXPECT_EQ(got, alone) << rows << " rows, seed " << seed;
    }
  }
}

TYPED_TEST(Recurrent, LengthZeroGivesZeroStatesButNoStepsGiveTheInitialOnes) {
  Problem<TypeParam, float> problem(42, 3, 4, 3, 10);  // shift 0
  problem.lengths = {0, 4, 0};
  const auto out = RunKernel(problem, true);
  for (const int64_t row : {0, 2})
    for (int64_t j = 0; j < 10; ++j) EXPECT_EQ(out.yh[row * 10 + j], 0.0f);
  Problem<TypeParam, float> none(42, 3, 0, 3, 10);
  none.lengths = {0, 7, -1};  // not looked at when there is no step
  EXPECT_EQ(RunKernel(none, true).yh, none.h0);
  EXPECT_EQ(RunReference(none, true).yh, none.h0);
}

TYPED_TEST(Recurrent, AbsentPartsAreZerosAndUnwantedOutputsAreLeftOut) {
  using Kind = typename TypeParam::Kind;
  for (const uint32_t seed : {51u, 54u}) {
    Problem<TypeParam, float> problem(seed, 3, 4, 5, 18);  // shift 0
    Problem<TypeParam, float> zeros = problem;
    for (auto* part : {&zeros.h0, &zeros.c0, &zeros.wb, &zeros.rb}) std::fill(part->begin(), part->end(), 0.0f);
    const auto expected = RunKernel(zeros, false);
    auto weights = problem.Weights();
    weights.wb = weights.rb = nullptr;
    Outputs<float> out;
    RecurrentSequence<float> io = Io(problem, out, false);
    io.h0 = io.c0 = nullptr;
    const PackedRecurrent<Kind, float> packed(problem.cell, weights);
    RunWithScratch<Kind, float>({{&packed, io}});
    EXPECT_EQ(out, expected);
    io.y = nullptr;
    std::fill(out.yh.begin(), out.yh.end(), kPad);
    RunWithScratch<Kind, float>({{&packed, io}});
    EXPECT_EQ(out, expected);
    io.yh = io.yc = nullptr;
    RunWithScratch<Kind, float>({{&packed, io}});
  }
}

TYPED_TEST(Recurrent, NanIsPassedOnAndHugeInputsSaturate) {
  Problem<TypeParam, float> problem(63, 1, 2, 1, 3);
  std::fill(problem.w.begin(), problem.w.end(), 1.0f);
  for (const float x : {100.0f, -1e30f, std::numeric_limits<float>::infinity()}) {
    std::fill(problem.x.begin(), problem.x.end(), x);
    const auto out = RunKernel(problem, false);
    ExpectNear(out, RunReference(problem, false), 4);
    for (const float value : out.yh) EXPECT_TRUE(std::isfinite(value)) << x;
  }
  std::fill(problem.x.begin(), problem.x.end(), std::nanf(""));
  for (const float value : RunKernel(problem, false).yh) EXPECT_TRUE(std::isnan(value));
}

TYPED_TEST(Recurrent, DenormalWeightsAreFlushedInTheCopyOrKept) {
  using Packed = PackedRecurrent<typename TypeParam::Kind, float>;
  Problem<TypeParam, float> problem(72, 1, 1, 2, 2);
  std::fill(problem.w.begin(), problem.w.end(), 1e-40f);
  const Packed flushed(problem.cell, problem.Weights()), kept(problem.cell, problem.Weights(), false);
  EXPECT_EQ(static_cast<const float*>(flushed.data().w.weights)[0], 0.0f);
  EXPECT_EQ(static_cast<const float*>(kept.data().w.weights)[0], 1e-40f);
  EXPECT_EQ(problem.w[0], 1e-40f) << "the original is left alone";
}

TYPED_TEST(Recurrent, PackedWeightsStayBoundToTheirIsa) {
  using Kind = typename TypeParam::Kind;
  const Problem<TypeParam, float> problem(81, 2, 3, 4, 21);
  const auto expected = RunReference(problem, false);
  ForEachIsa([&] {
    const PackedRecurrent<Kind, float> packed(problem.cell, problem.Weights());
    SetIsa(Isa::kBaseline);
    Outputs<float> out;
    RunWithScratch<Kind, float>({{&packed, Io(problem, out, false)}});
    ExpectNear(out, expected);
  });
}

TYPED_TEST(Recurrent, ScratchThatOverflowsIsNoSize) {
  using Kind = typename TypeParam::Kind;
  const Problem<TypeParam, float> problem(91, 1, 1, 1, 1);
  const PackedRecurrent<Kind, float> packed(problem.cell, problem.Weights());
  RecurrentSequence<float> io;
  io.rows = INT64_MAX / 8;
  io.steps = 1;
  const std::vector<RecurrentDirection<Kind, float>> runs{{&packed, io}};
  EXPECT_EQ((RecurrentScratchBytes<Kind, float>(runs, 1)), std::nullopt);
}

// The two ways to say a GRU's biases with linear_before_reset: apart, or z and r summed up.
TEST(Gru, CandidateBiasStandsAlone) {
  Problem<GruTraits, float> apart(75, 2, 3, 4, 19);  // shift 0
  ASSERT_TRUE(apart.cell.linear_before_reset);
  const auto expected = RunKernel(apart, false);
  Problem<GruTraits, float> summed = apart;
  for (int64_t i = 0; i < 2 * 19; ++i) summed.wb[i] += summed.rb[i];
  GruWeights<float> weights = summed.Weights();
  weights.candidate_rb = summed.rb.data() + 2 * 19;
  weights.rb = nullptr;
  const PackedRecurrent<Gru, float> packed(summed.cell, weights);
  Outputs<float> out;
  RunWithScratch<Gru, float>({{&packed, Io(summed, out, false)}});
  EXPECT_EQ(out, expected);
  Outputs<float> reference;
  RecurrentReference(summed.cell, weights, Io(summed, reference, false));
  ExpectNear(out, reference);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
