// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// Two batch entries, four query heads over two key heads, three queries, five keys.
struct Example {
  static constexpr int64_t kBatch = 2, kHeads = 4, kKvHeads = 2, kQueries = 3, kKeys = 5, kDim = 3, kVDim = 2;
  std::vector<double> q = Wave(kBatch * kHeads * kQueries * kDim, 1), k = Wave(kBatch * kKvHeads * kKeys * kDim, 2),
                      v = Wave(kBatch * kKvHeads * kKeys * kVDim, 3);
  std::vector<double> y = std::vector<double>(kBatch * kHeads * kQueries * kVDim);
  int64_t offsets[2] = {0, 2};
  AttentionArgs<double> args;

  static std::vector<double> Wave(int64_t n, double phase) {
    std::vector<double> x;
    for (int64_t i = 0; i < n; ++i) x.push_back(std::sin(phase + static_cast<double>(i)));
    return x;
  }
  Example() {
    args.batch = kBatch;
    args.q_heads = kHeads;
    args.kv_heads = kKvHeads;
    args.q_length = kQueries;
    args.kv_length = kKeys;
    args.dim = kDim;
    args.v_dim = kVDim;
    args.q = {q.data(), kHeads * kQueries * kDim, kQueries * kDim, kDim};
    args.k = {k.data(), kKvHeads * kKeys * kDim, kKeys * kDim, kDim};
    args.v = {v.data(), kKvHeads * kKeys * kVDim, kKeys * kVDim, kVDim};
    args.y = {y.data(), kHeads * kQueries * kVDim, kQueries * kVDim, kVDim};
    args.scale = 0.5;
    args.offsets = offsets;
  }
  // Whether key j is seen, and the result where it follows from that.
  template <class Seen>
  void Expect(Seen seen) {
    Attend(args, 0, kBatch * kHeads);
    for (int64_t b = 0; b < kBatch; ++b)
      for (int64_t h = 0; h < kHeads; ++h)
        for (int64_t i = 0; i < kQueries; ++i) {
          double total = 0, sums[kVDim] = {};
          for (int64_t j = 0; j < kKeys; ++j) {
            if (!seen(b, i, j)) continue;
            double score = 0;
            for (int64_t d = 0; d < kDim; ++d)
              score += q[static_cast<size_t>(((b * kHeads + h) * kQueries + i) * kDim + d)] *
                       k[static_cast<size_t>(((b * kKvHeads + h / 2) * kKeys + j) * kDim + d)];
            const double weight = std::exp(0.5 * score);
            total += weight;
            for (int64_t d = 0; d < kVDim; ++d)
              sums[d] += weight * v[static_cast<size_t>(((b * kKvHeads + h / 2) * kKeys + j) * kVDim + d)];
          }
          for (int64_t d = 0; d < kVDim; ++d)
            EXPECT_NEAR(y[static_cast<size_t>(((b * kHeads + h) * kQueries + i) * kVDim + d)],
                        total == 0 ? 0 : sums[d] / total, 1e-12);
        }
  }
};

TEST(Attention, MatchesTheDefinition) {
  Example().Expect([](int64_t, int64_t, int64_t) { return true; });
}

TEST(Attention, LooksAsFarAsItMay) {
  Example example;
  example.args.right = 0;
  example.Expect([](int64_t b, int64_t i, int64_t j) { return j <= i + 2 * b; });
  example.args.left = 1;
  example.Expect([](int64_t b, int64_t i, int64_t j) { return j <= i + 2 * b && j >= i + 2 * b - 1; });
  const int64_t valid[] = {1, 9};
  example.args.valid = valid;
  example.Expect([&](int64_t b, int64_t i, int64_t j) { return j < valid[b] && j <= i + 2 * b && j >= i + 2 * b - 1; });
}

TEST(Attention, BlindQueriesGiveZeros) {
  Example example;
  example.offsets[0] = -2;
  example.args.right = 0;
  example.Expect([](int64_t b, int64_t i, int64_t j) { return j <= i + (b == 0 ? -2 : 2); });
}

TEST(Attention, MasksBroadcastAndMayBeShort) {
  Example example;
  const bool seen[] = {true, false, true};
  example.args.seen = seen;
  example.args.mask_length = 3;
  example.args.mask_column = 1;
  example.Expect([&](int64_t, int64_t, int64_t j) { return j < 3 && seen[j]; });
  const double bias[] = {0, -INFINITY, 0};
  example.args.seen = nullptr;
  example.args.bias = bias;
  example.Expect([&](int64_t, int64_t, int64_t j) { return j == 0 || j == 2; });
}

TEST(Attention, ShowsItsScores) {
  Example example;
  example.args.softcap = 0.1;
  std::vector<double> scores(2 * 4 * 3 * 5);
  example.args.scores = scores.data();
  const auto first = [&](ScoreStage stage) {
    example.args.stage = stage;
    Attend(example.args, 0, 1);
    return scores[0];
  };
  double product = 0;
  for (int64_t d = 0; d < 3; ++d)
    product += 0.5 * example.q[static_cast<size_t>(d)] * example.k[static_cast<size_t>(d)];
  EXPECT_NEAR(first(ScoreStage::kProduct), product, 1e-12);
  const double capped = 0.1 * std::tanh(product / 0.1);
  EXPECT_NEAR(first(ScoreStage::kCapped), capped, 1e-12);
  EXPECT_NEAR(first(ScoreStage::kBiased), capped, 1e-12);
  first(ScoreStage::kSoftmax);
  EXPECT_NEAR(scores[0] + scores[1] + scores[2] + scores[3] + scores[4], 1, 1e-12);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
