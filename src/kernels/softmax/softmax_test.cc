// SPDX-License-Identifier: Apache-2.0
#include "kernels/softmax/softmax.h"

#include <cmath>

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

TEST(Softmax, MatchesTheDefinition) {
  for (const int64_t n : {1, 2, 15, 16, 33, 300}) {
    for (const int64_t inner : {1, 2, 63, 64, 65, 130}) {
      const int64_t outer = 2;
      std::vector<float> x(static_cast<size_t>(outer * n * inner)), y(x.size()), logs(x.size());
      for (size_t i = 0; i < x.size(); ++i) x[i] = 20 * std::sin(static_cast<float>(i) * 1.7f);
      Softmax(x.data(), y.data(), outer, n, inner, false);
      Softmax(x.data(), logs.data(), outer, n, inner, true);
      for (int64_t o = 0; o < outer; ++o) {
        for (int64_t c = 0; c < inner; ++c) {
          const auto at = [&](int64_t j) { return static_cast<size_t>((o * n + j) * inner + c); };
          double sum = 0;
          for (int64_t j = 0; j < n; ++j) sum += std::exp(static_cast<double>(x[at(j)]));
          for (int64_t j = 0; j < n; ++j) {
            const double expected = std::exp(static_cast<double>(x[at(j)])) / sum;
            // Each sum rounds at most n times in the worst order; exp and the division add a few units.
            ASSERT_NEAR(y[at(j)], expected, (static_cast<double>(n) + 40) * 0x1p-24 * expected) << n << " " << inner;
            ASSERT_NEAR(logs[at(j)], std::log(expected), 64 * 0x1p-24 * (1 + std::abs(std::log(expected))))
                << n << " " << inner;
          }
        }
      }
      Softmax(x.data(), x.data(), outer, n, inner, false);
      EXPECT_EQ(x, y) << "in place";
    }
  }
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
