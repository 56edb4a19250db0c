// SPDX-License-Identifier: Apache-2.0
#include "kernels/resample/resample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

TEST(Resample, SumsItsTaps) {
  Taps taps;
  taps.Add(0, 0.5);
  taps.Add(1, 0.5);
  taps.EndOutput();
  taps.EndOutput();
  taps.Add(1, 2);
  taps.EndOutput();
  ASSERT_EQ(taps.outputs(), 3);
  const float x[] = {1, 2, 3, 4, 5, 6, 7, 8};  // [2, 2, 2]
  float y[12];
  Resample(x, y, 2, 2, 2, taps);
  EXPECT_THAT(y, ::testing::ElementsAre(2, 3, 0, 0, 6, 8, 6, 7, 0, 0, 14, 16));
}

// Outputs of no tap to four, of rows and of columns of odd lengths.
TEST(Resample, AnyNumberOfTaps) {
  constexpr int64_t kN = 5;
  Taps taps;
  for (int64_t i = 0; i < 9; ++i) {
    for (int64_t t = 0; t < i % 5; ++t) taps.Add((i + 2 * t) % kN, static_cast<double>(i - 2 * t) / 4);
    taps.EndOutput();
  }
  for (const int64_t inner : {1, 2, 3, 8, 17}) {
    std::vector<float> x(static_cast<size_t>(2 * kN * inner)), y(static_cast<size_t>(2 * 9 * inner)), expected;
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * i % 19);
    for (int64_t o = 0; o < 2; ++o) {
      for (size_t i = 0; i < 9; ++i) {
        for (int64_t k = 0; k < inner; ++k) {
          double sum = 0;
          for (auto t = static_cast<size_t>(taps.begin[i]); t < static_cast<size_t>(taps.begin[i + 1]); ++t)
            sum += taps.weight[t] * static_cast<double>(x[static_cast<size_t>((o * kN + taps.index[t]) * inner + k)]);
          expected.push_back(static_cast<float>(sum));
        }
      }
    }
    Resample(x.data(), y.data(), 2, kN, inner, taps);
    EXPECT_EQ(y, expected) << inner;
  }
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
