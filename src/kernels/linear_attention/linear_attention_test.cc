// SPDX-License-Identifier: Apache-2.0
#include "kernels/linear_attention/linear_attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

std::vector<float> Random(std::mt19937& random, int64_t n, float low, float high) {
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = std::uniform_real_distribution<float>(low, high)(random);
  return values;
}

// Without decay and delta rule, what a query reads is the sum over the steps so far of (q . k) v: no state needed.
TEST(LinearAttention, IsTheSumOverEarlierSteps) {
  constexpr int64_t kBatch = 2, kSteps = 5, kHeads = 2, kGroup = 3, kKeys = 4, kValues = 7;
  std::mt19937 random(1);
  const std::vector<float> q = Random(random, kBatch * kSteps * kHeads * kGroup * kKeys, -1, 1);
  const std::vector<float> k = Random(random, kBatch * kSteps * kHeads * kKeys, -1, 1);
  const std::vector<float> v = Random(random, kBatch * kSteps * kHeads * kValues, -1, 1);
  std::vector<float> state(kBatch * kHeads * kKeys * kValues), y(kBatch * kSteps * kHeads * kGroup * kValues);
  LinearAttentionArgs args;
  args.batch = kBatch;
  args.steps = kSteps;
  args.q_heads = kHeads * kGroup;
  args.kv_heads = kHeads;
  args.key_dim = kKeys;
  args.value_dim = kValues;
  args.q = q.data();
  args.k = k.data();
  args.v = v.data();
  args.scale = 0.5f;
  args.state = state.data();
  args.y = y.data();
  LinearAttend(args, 0, 1);
  LinearAttend(args, 1, kBatch * kHeads);
  for (int64_t b = 0; b < kBatch; ++b)
    for (int64_t t = 0; t < kSteps; ++t)
      for (int64_t i = 0; i < kHeads * kGroup; ++i)
        for (int64_t m = 0; m < kValues; ++m) {
          double sum = 0;
          for (int64_t s = 0; s <= t; ++s) {
            double dot = 0;
            for (int64_t d = 0; d < kKeys; ++d)
              dot += static_cast<double>(q[((b * kSteps + t) * kHeads * kGroup + i) * kKeys + d]) *
                     static_cast<double>(k[((b * kSteps + s) * kHeads + i / kGroup) * kKeys + d]);
            sum += dot * static_cast<double>(v[((b * kSteps + s) * kHeads + i / kGroup) * kValues + m]);
          }
          // Sums of kSteps * kKeys products below 1 each.
          EXPECT_NEAR(y[((b * kSteps + t) * kHeads * kGroup + i) * kValues + m], 0.5 * sum, 1e-5);
        }
}

// With beta 1 and keys of length 1 the state gives back the last value of a key, whatever it held before.
TEST(LinearAttention, DeltaRuleReplacesTheValueOfAKey) {
  const std::vector<float> q = {0, 1, 0, 1}, k = {0, 1, 0, 1}, v = {1, 2, 3, 30, 40, 50}, beta = {1, 1};
  std::vector<float> state = {7, 7, 7, 9, 9, 9}, y(6);
  LinearAttentionArgs args;
  args.batch = args.q_heads = args.kv_heads = 1;
  args.steps = args.key_dim = 2;
  args.value_dim = 3;
  args.q = q.data();
  args.k = k.data();
  args.v = v.data();
  args.beta = beta.data();
  args.state = state.data();
  args.y = y.data();
  LinearAttend(args, 0, 1);
  EXPECT_EQ(y, (std::vector<float>{1, 2, 3, 30, 40, 50}));
  EXPECT_EQ(state, (std::vector<float>{7, 7, 7, 30, 40, 50}));
}

TEST(LinearAttention, DecayByHeadAndByKey) {
  const std::vector<float> zero(2), decay = {std::log(0.5f), std::log(0.25f)};
  std::vector<float> y(2);
  LinearAttentionArgs args;
  args.batch = args.steps = args.q_heads = args.kv_heads = 1;
  args.key_dim = 2;
  args.value_dim = 1;
  args.q = args.k = args.v = zero.data();
  args.decay = decay.data();
  args.y = y.data();
  std::vector<float> state = {8, 8};
  args.state = state.data();
  LinearAttend(args, 0, 1);
  EXPECT_EQ(state, (std::vector<float>{4, 4}));
  args.decay_by_key = true;
  LinearAttend(args, 0, 1);
  EXPECT_EQ(state, (std::vector<float>{2, 1}));
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
