// SPDX-License-Identifier: Apache-2.0
// Kernels over weights stored as bfloat16 or int8 against the plain loops over the weights these stand for and, with
// int8, the bytes rows of x and of states are rounded to.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/recurrent/recurrent_test_util.h"
#include "onnxseq/float16.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

constexpr WeightStorage kNarrow[] = {WeightStorage::kBf16, WeightStorage::kInt8};

// Each row of `k` weights as it comes back out of the storage.
void StoreAndLoad(std::span<float> weights, int64_t k, WeightStorage storage) {
  for (size_t begin = 0; k > 0 && begin + static_cast<size_t>(k) <= weights.size(); begin += static_cast<size_t>(k)) {
    const std::span<float> row = weights.subspan(begin, static_cast<size_t>(k));
    float most = 0;
    for (const float value : row) most = std::max(most, std::abs(value));
    const float scale = most / 127;
    for (float& value : row) {
      if (storage == WeightStorage::kBf16)
        value = static_cast<float>(BFloat16(value));
      else
        value = scale > 0 ? std::nearbyint(value / scale) * scale : 0.0f;
    }
  }
}

// What the bytes of values in [least, greatest], 0 among them, stand for.
std::vector<float> Rounded(const float* values, int64_t n, float least, float greatest) {
  const float scale = greatest > least ? (greatest - least) / 255 : 1, zero = std::nearbyint(-least / scale);
  std::vector<float> rounded(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i)
    rounded[static_cast<size_t>(i)] =
        (std::clamp(std::nearbyint(values[i] / scale) + zero, 0.0f, 255.0f) - zero) * scale;
  return rounded;
}
std::vector<float> RoundedByItself(const float* row, int64_t n) {
  float least = 0, greatest = 0;
  for (int64_t i = 0; i < n; ++i) {
    least = std::min(least, row[i]);
    greatest = std::max(greatest, row[i]);
  }
  return Rounded(row, n, least, greatest);
}

template <class Traits>
Outputs<float> RunStoredReference(Problem<Traits, float> problem, bool with_lengths, WeightStorage storage) {
  const auto shift = static_cast<size_t>(problem.shift);
  StoreAndLoad(std::span(problem.w).subspan(shift), problem.inputs, storage);
  StoreAndLoad(std::span(problem.r).subspan(shift), problem.hidden, storage);
  return RunReference(problem, with_lengths, storage == WeightStorage::kInt8 ? RoundedByItself : AsItIs<float>);
}

// Where a state is computed before it is rounded, its last bit may decide the byte: another step of 1/255 of the range,
// about 2, in some of the terms of a sum.
template <class Traits>
double ToleranceFactor(const Problem<Traits, float>& problem, WeightStorage storage) {
  const bool given = problem.steps <= 1 && !std::is_same_v<Traits, GruTraits>;
  return storage == WeightStorage::kInt8 && !given ? 2.0 / 255 / std::numeric_limits<float>::epsilon() : 64;
}

template <class Traits>
class StoredRecurrent : public testing::Test {};
using Kinds = testing::Types<GruTraits, RnnTraits, LstmTraits>;
TYPED_TEST_SUITE(StoredRecurrent, Kinds);

TYPED_TEST(StoredRecurrent, EqualsReferenceUnderEachIsa) {
  ForEachIsa([] {
    uint32_t seed = 100;
    for (const WeightStorage storage : kNarrow)
      for (const int64_t hidden : {0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 35, 67})
        for (const int64_t inputs : {0, 19})
          for (const int64_t rows : {1, 2, 3, 5, 13})
            for (const int64_t steps : {0, 1, 4}) {
              Problem<TypeParam, float> problem(++seed, rows, steps, inputs, hidden);
              problem.reverse = seed % 5 < 2;
              problem.with_peepholes = seed % 3 == 0;
              const bool with_lengths = seed % 4 < 2;
              SCOPED_TRACE(testing::Message() << "seed " << seed << " N " << rows << " T " << steps << " I " << inputs
                                              << " H " << hidden << " storage " << static_cast<int>(storage));
              ExpectNear(RunKernel(problem, with_lengths, nullptr, 1, storage),
                         RunStoredReference(problem, with_lengths, storage), ToleranceFactor(problem, storage));
              if (testing::Test::HasFatalFailure()) return;
            }
  });
}

TYPED_TEST(StoredRecurrent, ThreadsAndBatchesChangeNoBit) {
  ThreadTeam team(3);
  for (const WeightStorage storage : kNarrow) {
    const Problem<TypeParam, float> problem(7, 6, 9, 40, 200);
    const Outputs<float> alone = RunKernel(problem, true, nullptr, 1, storage);
    for (const int threads : {2, 3}) EXPECT_EQ(RunKernel(problem, true, &team, threads, storage), alone);
    Problem<TypeParam, float> first = problem;
    first.rows = 1;
    const Outputs<float> row = RunKernel(first, true, nullptr, 1, storage);
    for (size_t i = static_cast<size_t>(problem.shift); i < row.yh.size(); ++i) EXPECT_EQ(row.yh[i], alone.yh[i]);
  }
}

TYPED_TEST(StoredRecurrent, WeightsThatAreNotFiniteShow) {
  for (const WeightStorage storage : kNarrow) {
    Problem<TypeParam, float> problem(9, 1, 2, 4, 8);
    problem.shift = 0;
    problem.r[0] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(RunKernel(problem, false, nullptr, 1, storage).yh[0]));
  }
}

TYPED_TEST(StoredRecurrent, InputsThatAreNotFiniteShowInTheirRow) {
  for (const float wrong : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    for (const int64_t at : {0, 18}) {
      Problem<TypeParam, float> problem(9, 2, 2, 19, 8);
      problem.shift = 0;
      problem.x[static_cast<size_t>(at)] = wrong;
      const Outputs<float> out = RunKernel(problem, false, nullptr, 1, WeightStorage::kInt8);
      EXPECT_TRUE(std::isnan(out.yh[0]));
      EXPECT_TRUE(std::isfinite(out.yh[8]));
    }
}

TYPED_TEST(StoredRecurrent, TakesLessMemory) {
  using Kind = typename TypeParam::Kind;
  const Problem<TypeParam, float> problem(1, 1, 1, 256, 256);
  const auto bytes = [&](WeightStorage storage) {
    return static_cast<double>(PackedRecurrent<Kind, float>(problem.cell, problem.Weights(), true, storage).bytes());
  };
  const double full = bytes(WeightStorage::kFull);
  EXPECT_NEAR(bytes(WeightStorage::kBf16) / full, 0.5, 0.01);
  EXPECT_NEAR(bytes(WeightStorage::kInt8) / full, 0.25, 0.02);
}

// Numbers for which every step is exact: sums of products of integers times powers of two, through an activation that
// changes nothing. Each instruction set gives what the plain loops give, to the bit.
TEST(StoredBytes, SumsAreTheSameBitsUnderEachIsa) {
  ForEachIsa([] {
    for (const int64_t inputs : {2, 5, 64, 130})
      for (const int64_t rows : {1, 2, 7, 20}) {
        Problem<RnnTraits, float> problem(static_cast<uint32_t>(inputs), rows, 1, inputs, 37);
        problem.shift = 0;
        problem.cell.f = {ActivationKind::kAffine, 1, 0};
        std::mt19937 engine(static_cast<uint32_t>(rows));
        const auto whole = [&](int bound) {
          return static_cast<float>(std::uniform_int_distribution<int>(-bound, bound)(engine));
        };
        // Ranges of 255/128 and weights of up to 127/64.
        for (float& x : problem.x) x = whole(127) / 128;
        for (int64_t row = 0; row < rows; ++row) {
          float* const x = problem.x.data() + row * (inputs + problem.kGap);
          x[0] = -1;
          x[1] = 127.0f / 128;
        }
        for (float& w : problem.w) w = whole(127) / 64;
        for (size_t unit = 0; unit < 37; ++unit) problem.w[unit * static_cast<size_t>(inputs)] = -127.0f / 64;
        for (std::vector<float>* zeros : {&problem.r, &problem.h0}) std::fill(zeros->begin(), zeros->end(), 0.0f);
        for (std::vector<float>* bias : {&problem.wb, &problem.rb})
          for (float& b : *bias) b = whole(20);
        EXPECT_EQ(RunKernel(problem, false, nullptr, 1, WeightStorage::kInt8), RunReference(problem, false))
            << inputs << " inputs, " << rows << " rows";
      }
  });
}

// Weights that are bytes with zero points; x of a call and states of a step share their ranges.
TEST(StoredBytes, AsFilesHoldThem) {
  ForEachIsa([] {
    for (const int64_t rows : {1, 3, 8}) {
      const int64_t inputs = 21, hidden = 19;
      Problem<LstmTraits, float> problem(5, rows, 1, inputs, hidden);
      std::mt19937 engine(11);
      std::vector<int8_t> w(static_cast<size_t>(4 * hidden * inputs)), r(static_cast<size_t>(4 * hidden * hidden));
      for (std::vector<int8_t>* bytes : {&w, &r})
        for (int8_t& byte : *bytes) byte = static_cast<int8_t>(engine());
      std::vector<float> scales(static_cast<size_t>(4 * hidden));
      std::vector<int32_t> zeros(scales.size());
      for (size_t i = 0; i < scales.size(); ++i) {
        scales[i] = static_cast<float>(1 + i % 7) / 1024;
        zeros[i] = static_cast<int8_t>(engine());
      }
      const auto widen = [&](const std::vector<int8_t>& bytes, int64_t k, std::vector<float>& to) {
        for (size_t i = 0; i < bytes.size(); ++i) {
          const size_t row = i / static_cast<size_t>(k);
          to[i + static_cast<size_t>(problem.shift)] = static_cast<float>(bytes[i] - zeros[row]) * scales[row];
        }
      };
      widen(w, inputs, problem.w);
      widen(r, hidden, problem.r);
      // Gaps of x hold what no range may see.
      const auto x_row = static_cast<size_t>(inputs + problem.kGap), shift = static_cast<size_t>(problem.shift);
      for (size_t row = 0; row < static_cast<size_t>(rows); ++row)
        std::fill_n(problem.x.begin() + static_cast<std::ptrdiff_t>(shift + row * x_row) + inputs, problem.kGap, 1e6f);
      LstmWeights<float> weights = problem.Weights();
      weights.w_bytes = {w.data(), scales.data(), zeros.data()};
      weights.r_bytes = {r.data(), scales.data(), zeros.data()};
      const PackedRecurrent<Lstm, float> packed(problem.cell, weights, true, WeightStorage::kInt8);
      Outputs<float> out;
      RunWithScratch<Lstm, float>({{&packed, Io(problem, out, false)}});
      // The loops see x and h0 rounded; both enter products alone.
      float x_least = 0, x_greatest = 0;
      for (size_t row = 0; row < static_cast<size_t>(rows); ++row)
        for (size_t i = 0; i < static_cast<size_t>(inputs); ++i) {
          x_least = std::min(x_least, problem.x[shift + row * x_row + i]);
          x_greatest = std::max(x_greatest, problem.x[shift + row * x_row + i]);
        }
      problem.x = Rounded(problem.x.data(), static_cast<int64_t>(problem.x.size()), x_least, x_greatest);
      const auto [h_least, h_greatest] = std::minmax_element(problem.h0.begin() + problem.shift, problem.h0.end());
      problem.h0 = Rounded(problem.h0.data(), static_cast<int64_t>(problem.h0.size()), std::min(*h_least, 0.0f),
                           std::max(*h_greatest, 0.0f));
      ExpectNear(out, RunReference(problem, false), 256);
    }
  });
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
