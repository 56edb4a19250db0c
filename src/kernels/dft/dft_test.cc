// SPDX-License-Identifier: Apache-2.0
#include "kernels/dft/dft.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "kernels/isa_test_util.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

void MatchesTheDefinitionAndComesBack() {
  for (const int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 30, 32, 49, 64, 101, 400}) {
    std::vector<std::complex<double>> x, y(static_cast<size_t>(n)), back(y.size());
    for (int64_t i = 0; i < n; ++i)
      x.emplace_back(std::sin(static_cast<double>(i) * 1.3), std::cos(static_cast<double>(i * i)));
    Dft dft(n);
    dft.Run(x.data(), y.data(), false);
    for (int64_t k = 0; k < n; ++k) {
      std::complex<double> sum;
      for (int64_t j = 0; j < n; ++j)
        sum += x[static_cast<size_t>(j)] *
               std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n));
      ASSERT_NEAR(std::abs(y[static_cast<size_t>(k)] - sum), 0, 1e-11) << n << " " << k;
    }
    dft.Run(y.data(), back.data(), true);
    for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(std::abs(back[i] - x[i]), 0, 1e-12) << n;
  }
}

TEST(Dft, MatchesTheDefinitionAndComesBack) { ForEachIsa(MatchesTheDefinitionAndComesBack); }

TEST(Dft, TogetherTheyGiveWhatEachGivesAlone) {
  ForEachIsa([] {
    for (const int64_t n : {1, 2, 12, 17, 35, 64, 128}) {
      const auto size = static_cast<size_t>(2 * n);
      const size_t lanes = Dft::kLanes;
      std::vector<double> together(size * lanes), result(together.size());
      for (size_t i = 0; i < together.size(); ++i) together[i] = std::sin(static_cast<double>(i * i % 97));
      const Dft dft(n);
      for (const bool inverse : {false, true}) {
        dft.Run(Dft::kLanes, together.data(), result.data(), inverse);
        for (size_t lane = 0; lane < lanes; ++lane) {
          std::vector<double> one(size), alone(size);
          for (size_t i = 0; i < size; ++i) one[i] = together[i * lanes + lane];
          dft.Run(1, one.data(), alone.data(), inverse);
          for (size_t i = 0; i < size; ++i) ASSERT_EQ(alone[i], result[i * lanes + lane]) << n << " " << i;
        }
      }
    }
  });
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
