// SPDX-License-Identifier: Apache-2.0
// What only an LSTM has; recurrent_test.cc holds what is common to all kinds.
#include "kernels/lstm/lstm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

#include "kernels/recurrent/recurrent_test_util.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

template <class T>
using LstmProblem = Problem<LstmTraits, T>;

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
          LstmProblem<T> problem(++seed, rows, steps, inputs, hidden);
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
        LstmProblem<float> problem(77, 4, 5, 6, 21);
        problem.cell = cell;
        problem.with_peepholes = peepholes;
        problem.reverse = reverse;
        ExpectNear(RunKernel(problem, true), RunReference(problem, true));
      }
  });
}

TEST(Lstm, LengthZeroGivesZeroStatesButNoStepsGiveTheInitialOnes) {
  LstmProblem<float> problem(42, 3, 4, 3, 10);  // shift 0
  problem.lengths = {0, 4, 0};
  const auto out = RunKernel(problem, true);
  for (const int64_t row : {0, 2})
    for (int64_t j = 0; j < 10; ++j) {
      EXPECT_EQ(out.yh[row * 10 + j], 0.0f);
      EXPECT_EQ(out.yc[row * 10 + j], 0.0f);
    }
  LstmProblem<float> none(42, 3, 0, 3, 10);
  none.lengths = {0, 7, -1};  // not looked at when there is no step
  EXPECT_EQ(RunKernel(none, true).yh, none.h0);
  EXPECT_EQ(RunKernel(none, true).yc, none.c0);
  EXPECT_EQ(RunReference(none, true).yh, none.h0);
  EXPECT_EQ(RunReference(none, true).yc, none.c0);
}

TEST(Lstm, AbsentPartsAreZerosAndUnwantedOutputsAreLeftOut) {
  LstmProblem<float> problem(51, 3, 4, 5, 18);
  LstmProblem<float> zeros = problem;
  for (auto* part : {&zeros.h0, &zeros.c0, &zeros.wb, &zeros.rb, &zeros.p}) std::fill(part->begin(), part->end(), 0.0f);
  zeros.with_peepholes = true;
  const auto expected = RunKernel(zeros, false);
  LstmWeights<float> weights = problem.Weights();
  weights.wb = weights.rb = nullptr;
  Outputs<float> out;
  RecurrentSequence<float> io = Io(problem, out, false);
  io.h0 = io.c0 = nullptr;
  const PackedRecurrent<Lstm, float> packed(problem.cell, weights);
  RunWithScratch<Lstm, float>({{&packed, io}});
  ExpectNear(out, expected, 4);  // zero peepholes take the general path through the cell, and round alike
  const Outputs<float> all = out;
  io.y = nullptr;
  std::fill(out.yh.begin(), out.yh.end(), kPad);
  RunWithScratch<Lstm, float>({{&packed, io}});
  EXPECT_EQ(out, all);
  io.yh = io.yc = nullptr;
  RunWithScratch<Lstm, float>({{&packed, io}});
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
