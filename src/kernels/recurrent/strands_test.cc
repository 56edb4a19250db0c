// SPDX-License-Identifier: Apache-2.0
#include "kernels/recurrent/strands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <random>
#include <utility>
#include <vector>

#include "base/stop_token.h"
#include "kernels/recurrent/recurrent_test_util.h"
#include "kernels/recurrent/recurrent_walk.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// A strand that looks at what it was promised.
struct Watched {
  std::atomic<int64_t> done{0};
  std::atomic<bool> busy{false};
  const Watched* after = nullptr;
  int64_t behind = 0, steps_after = 0;
  std::vector<std::pair<int64_t, int64_t>> calls;
  std::atomic<int> broken{0};

  void operator()(int64_t begin, int64_t end) {
    if (busy.exchange(true) || begin != done) ++broken;
    if (after != nullptr && after->done < std::min(end + behind, steps_after)) ++broken;
    calls.emplace_back(begin, end);
    done = end;
    busy = false;
  }
};

TEST(Strands, KeepOrderOnAnyNumberOfThreads) {
  ThreadTeam team(4);
  std::mt19937 engine(5);
  const auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  };
  for (int round = 0; round < 300; ++round) {
    std::deque<Watched> watched;
    std::vector<Strand> strands;
    const auto count = draw(1, 8);
    for (int64_t i = 0; i < count; ++i) {
      Watched& one = watched.emplace_back();
      Strand strand{.run = one, .steps = draw(0, 40), .block = draw(1, 12), .step_cost = 1};
      if (i > 0 && draw(0, 2) > 0) {
        strand.after = static_cast<int>(draw(0, i - 1));
        strand.behind = draw(0, 2) == 0 ? draw(0, 50) : 0;
        one.after = &watched[static_cast<size_t>(strand.after)];
        one.behind = strand.behind;
        one.steps_after = strands[static_cast<size_t>(strand.after)].steps;
      }
      strands.push_back(strand);
    }
    RunStrands(strands, team, static_cast<int>(draw(1, 4)));
    for (size_t i = 0; i < watched.size(); ++i) {
      SCOPED_TRACE(testing::Message() << "round " << round << " strand " << i);
      EXPECT_EQ(watched[i].broken, 0);
      const Strand& strand = strands[i];
      std::vector<std::pair<int64_t, int64_t>> expected;
      for (int64_t begin = 0; begin < strand.steps || begin == 0; begin += strand.block)
        expected.emplace_back(begin, std::min(begin + strand.block, strand.steps));
      EXPECT_EQ(watched[i].calls, expected);
    }
  }
}

TEST(Strands, EndWhenTheRunIsToEnd) {
  ThreadTeam team(3);
  for (const int threads : {1, 2, 3}) {
    std::atomic<bool> cancel{false};
    StopToken stop(&cancel, std::nullopt, nullptr);
    const StopScope scope(&stop);
    std::atomic<int64_t> done{0};
    const auto step = [&](int64_t, int64_t end) {
      done = std::max(done.load(), end);
      if (end == 7) cancel = true;
    };
    const auto follow = [](int64_t, int64_t) {};
    RunStrands({{{.run = step, .steps = 1 << 30}, {.run = follow, .steps = 1 << 30, .after = 0}}}, team, threads);
    EXPECT_LE(done, 8) << threads;
  }
}

TEST(Strands, BlocksAreFewSteps) {
  EXPECT_EQ(StrandBlock(0, 1), 8);
  EXPECT_EQ(StrandBlock(100, 1), 8);
  EXPECT_EQ(StrandBlock(160, 1), 16);
  EXPECT_EQ(StrandBlock(161, 1), 16);
  EXPECT_EQ(StrandBlock(100, 3), 8);
  EXPECT_EQ(StrandBlock(100, 8), 7);
  EXPECT_EQ(StrandBlock(5, 20), 1);
}

// Cut into blocks anywhere, a direction gives the same bits as in one go.
template <class Traits, class T>
void CutsAreNotSeen(WeightStorage storage) {
  using Kind = typename Traits::Kind;
  uint32_t seed = 40;
  for (const bool reverse : {false, true})
    for (const bool with_lengths : {false, true})
      for (const int64_t block : {1, 2, 5, 11, 30})
        for (const int64_t rows : {1, 3}) {
          Problem<Traits, T> problem(++seed, rows, 23, 9, 21);
          problem.reverse = reverse;
          const Outputs<T> expected = RunKernel(problem, with_lengths, nullptr, 1, storage);
          Outputs<T> out;
          const PackedRecurrent<Kind, T> packed(problem.cell, problem.Weights(), true, storage);
          const RecurrentDirection<Kind, T> direction{&packed, Io(problem, out, with_lengths)};
          const int64_t bytes = RecurrentWalk<Kind, T>::ScratchBytes(direction).value();
          const AlignedArray<char> scratch = MakeAlignedArray<char>(bytes);
          RecurrentWalk<Kind, T> walk(direction,
                                      {reinterpret_cast<std::byte*>(scratch.get()), static_cast<size_t>(bytes)});
          const int64_t steps = walk.steps();
          EXPECT_EQ(steps, with_lengths ? *std::ranges::max_element(problem.lengths) : 23);
          for (int64_t begin = 0; begin < steps || begin == 0; begin += block)
            walk(begin, std::min(begin + block, steps));
          EXPECT_EQ(out, expected) << "seed " << seed << " block " << block;
        }
}

template <class Traits>
class RecurrentWalks : public testing::Test {};
using Kinds = testing::Types<GruTraits, RnnTraits, LstmTraits>;
TYPED_TEST_SUITE(RecurrentWalks, Kinds);

TYPED_TEST(RecurrentWalks, CutsAreNotSeen) {
  CutsAreNotSeen<TypeParam, float>(WeightStorage::kFull);
  CutsAreNotSeen<TypeParam, double>(WeightStorage::kFull);
  CutsAreNotSeen<TypeParam, float>(WeightStorage::kBf16);
  CutsAreNotSeen<TypeParam, float>(WeightStorage::kInt8);
}

// Rows of length 0 have neither steps nor states.
TYPED_TEST(RecurrentWalks, NoStepsAtAll) {
  using Kind = typename TypeParam::Kind;
  Problem<TypeParam, float> problem(3, 2, 4, 5, 9);
  problem.lengths = {0, 0};
  Outputs<float> out;
  const PackedRecurrent<Kind, float> packed(problem.cell, problem.Weights());
  const RecurrentDirection<Kind, float> direction{&packed, Io(problem, out, true)};
  const int64_t bytes = RecurrentWalk<Kind, float>::ScratchBytes(direction).value();
  const AlignedArray<char> scratch = MakeAlignedArray<char>(bytes);
  RecurrentWalk<Kind, float> walk(direction, {reinterpret_cast<std::byte*>(scratch.get()), static_cast<size_t>(bytes)});
  EXPECT_EQ(walk.steps(), 0);
  walk(0, 0);
  EXPECT_EQ(out, RunKernel(problem, true));
}

// What a run takes by the model: one thread, two directions, shared units, shared rows.
TEST(RecurrentCost, FollowsTheSplit) {
  const auto cost = [](int64_t rows, int64_t hidden, int directions, int threads) {
    const Problem<LstmTraits, float> problem(1, rows, 50, hidden, hidden);
    Outputs<float> out;
    const PackedRecurrent<Lstm, float> packed(problem.cell, problem.Weights());
    const std::vector<RecurrentDirection<Lstm, float>> all(static_cast<size_t>(directions),
                                                           {&packed, Io(problem, out, false)});
    return RecurrentCostOf<Lstm, float>(all, threads);
  };
  const double one = 50.0 * 8 * 128 * 128;
  EXPECT_EQ(cost(1, 128, 1, 1).shared, one);
  EXPECT_EQ(cost(1, 128, 1, 2).alone, one);
  EXPECT_EQ(cost(1, 128, 1, 2).shared, one / 2 + 50 * kWorthABarrier);
  EXPECT_EQ(cost(1, 128, 2, 2).alone, 2 * one);
  EXPECT_EQ(cost(1, 128, 2, 2).longest, one);
  EXPECT_EQ(cost(1, 128, 2, 2).shared, one);
  EXPECT_EQ(cost(1, 32, 1, 2).shared, one / 16);  // too little for two
  EXPECT_EQ(cost(48, 128, 1, 2).shared, one * 48 / 2 + 50 * kWorthABarrier);
  EXPECT_EQ(cost(48, 16, 1, 2).shared, one / 64 * 48 / 3 * 2);  // three blocks of rows on two threads
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
