// SPDX-License-Identifier: Apache-2.0
#include "kernels/normalize/normalize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/isa_test_util.h"
#include "kernels/normalize/float_rows.h"
#include "onnxseq/float16.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

using ::testing::ElementsAre;

TEST(Normalize, MomentsMatchTheDefinition) {
  for (const int64_t inner : {1, 7, 8, 9, 67}) {
    const int64_t outer = 3, channels = 2;
    std::vector<float> x(static_cast<size_t>(outer * channels * inner));
    for (size_t i = 0; i < x.size(); ++i) x[i] = 1000 + std::sin(static_cast<float>(i));
    double mean[2], variance[2];
    Moments(TensorType::kFloat, x.data(), outer, channels, inner, mean, variance, 0, 2);
    for (int64_t c = 0; c < channels; ++c) {
      double sum = 0, squares = 0;
      const auto each = [&](auto fn) {
        for (int64_t o = 0; o < outer; ++o)
          for (int64_t i = 0; i < inner; ++i)
            fn(static_cast<double>(x[static_cast<size_t>((o * channels + c) * inner + i)]));
      };
      each([&](double v) { sum += v; });
      const double center = sum / static_cast<double>(outer * inner);
      each([&](double v) { squares += (v - center) * (v - center); });
      EXPECT_NEAR(mean[c], center, 1e-9);
      EXPECT_NEAR(variance[c], squares / static_cast<double>(outer * inner), 1e-9);
    }
  }
}

TEST(Normalize, FloatRowsAreTheDefinition) {
  ForEachIsa([] {
    for (const int64_t n : {0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 33, 67, 129}) {
      const auto size = static_cast<size_t>(n);
      std::vector<float> x(size + 1), y(size + 2, 77.0f), scale(size + 1), shift(size + 1);
      for (size_t i = 0; i <= size; ++i) {
        x[i] = 100 + std::sin(static_cast<float>(i));
        scale[i] = std::cos(static_cast<float>(i));
        shift[i] = static_cast<float>(i % 5);
      }
      double squares = 0;
      for (size_t i = 1; i <= size; ++i) squares += std::pow(static_cast<double>(x[i]) - 99.5, 2);
      EXPECT_NEAR(SumOfSquaredDeviations(x.data() + 1, n, 99.5), squares, 1e-11 * squares);
      for (const bool shifted : {false, true}) {
        NormalizeAndScale(x.data() + 1, y.data() + 1, n, 99.5f, 0.3f, scale.data() + 1,
                          shifted ? shift.data() + 1 : nullptr);
        for (size_t i = 1; i <= size; ++i) {
          const float scaled = (x[i] - 99.5f) * 0.3f * scale[i];
          ASSERT_EQ(y[i], shifted ? scaled + shift[i] : scaled) << n << " " << i;
        }
        EXPECT_EQ(y.front(), 77.0f);
        EXPECT_EQ(y.back(), 77.0f);
      }
    }
  });
}

TEST(Normalize, MomentsOfNothingAreNaN) {
  double mean = 0, variance = 0;
  Moments(TensorType::kFloat, nullptr, 1, 1, 0, &mean, &variance, 0, 1);
  EXPECT_TRUE(std::isnan(mean));
}

TEST(Normalize, MeanSquaresOfRows) {
  const float x[] = {1, 3, 5, 7, INFINITY, 0};
  double squares[3] = {-1, -1, -1};
  MeanSquares(TensorType::kFloat, x, 2, squares, 1, 3);
  EXPECT_THAT(squares, ElementsAre(-1, 37, INFINITY));
  MeanSquares(TensorType::kFloat, x, 0, squares, 0, 1);
  EXPECT_TRUE(std::isnan(squares[0]));
}

TEST(Normalize, RowsTakeTheirChannel) {
  const double x[] = {1, 2, 3, 4, 5, 6};
  double y[6];
  const double center[] = {1, 2}, scale[] = {10, 100}, shift[] = {0.5, 0};
  NormalizeRows(TensorType::kDouble, x, y, 2, 2, center, scale, shift, 0, 3);
  EXPECT_THAT(y, ElementsAre(0.5, 10.5, 100, 200, 40.5, 50.5));
  const Float16 h[] = {Float16(3.f)};
  Float16 g[1];
  NormalizeRows(TensorType::kFloat16, h, g, 1, 1, center, scale, nullptr, 0, 1);
  EXPECT_EQ(static_cast<float>(g[0]), 20);
}

TEST(Normalize, LpDividesByTheNorm) {
  const float x[] = {3, 0, 4, 0};  // [2, 2]: columns 3 4 and 0 0
  float y[4];
  LpNormalize(TensorType::kFloat, x, y, 1, 2, 2, 2);
  EXPECT_THAT(y, ElementsAre(0.6f, 0, 0.8f, 0));
  LpNormalize(TensorType::kFloat, x, y, 1, 2, 2, 1);
  EXPECT_FLOAT_EQ(y[2], 4.f / 7);
}

TEST(Normalize, ResponseLooksAtNeighbours) {
  const float x[] = {1, 2, 3};
  float y[3];
  NormalizeResponse(TensorType::kFloat, x, y, 1, 3, 1, {.size = 2, .alpha = 2, .beta = 1, .bias = 1});
  EXPECT_THAT(y, ElementsAre(1.f / 6, 2.f / 14, 3.f / 10));
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
