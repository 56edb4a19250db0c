// SPDX-License-Identifier: Apache-2.0
// Kernels over weights stored as bfloat16 or int8 against the plain loops over the weights these stand for.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

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

template <class Traits>
Outputs<float> RunStoredReference(Problem<Traits, float> problem, bool with_lengths, WeightStorage storage) {
  const auto shift = static_cast<size_t>(problem.shift);
  StoreAndLoad(std::span(problem.w).subspan(shift), problem.inputs, storage);
  StoreAndLoad(std::span(problem.r).subspan(shift), problem.hidden, storage);
  return RunReference(problem, with_lengths);
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
                         RunStoredReference(problem, with_lengths, storage));
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

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
