// SPDX-License-Identifier: Apache-2.0
#include "kernels/dft/dft.h"

#include <cmath>
#include <numbers>

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

TEST(Dft, MatchesTheDefinitionAndComesBack) {
  for (const int64_t n : {1, 2, 3, 4, 6, 7, 8, 12, 30, 49, 64, 101}) {
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

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
