// SPDX-License-Identifier: Apache-2.0
#include "kernels/softmax/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/isa_test_util.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// Of matrix [n, columns], rows `stride` apart, every column.
template <class T>
void ExpectSoftmax(const std::vector<T>& x, const std::vector<T>& y, int64_t n, int64_t columns, int64_t stride,
                   bool log) {
  const double unit = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
  for (int64_t c = 0; c < columns; ++c) {
    const auto at = [&](int64_t j) { return static_cast<size_t>(j * stride + c); };
    double max = -INFINITY, sum = 0;
    for (int64_t j = 0; j < n; ++j) max = std::max(max, static_cast<double>(x[at(j)]));
    for (int64_t j = 0; j < n; ++j) sum += std::exp(static_cast<double>(x[at(j)]) - max);
    for (int64_t j = 0; j < n; ++j) {
      const double logarithm = static_cast<double>(x[at(j)]) - max - std::log(sum);
      const double expected = log ? logarithm : std::exp(logarithm);
      const double size = log ? 1 + std::abs(logarithm) : expected;
      // x - max rounds, which e^ makes relative to its size, at most 40 here.
      ASSERT_NEAR(y[at(j)], expected, (static_cast<double>(n) + 8 + 40) * unit * size)
          << n << " numbers, " << columns << " columns, log " << log << ", number " << j << " of column " << c;
    }
  }
}

template <class T>
std::vector<T> Numbers(int64_t size) {
  std::vector<T> x(static_cast<size_t>(size));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(20 * std::sin(static_cast<double>(i * i % 9973) * 1.7));
  return x;
}

template <class T>
void CompareRows() {
  for (const int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 67, 131, 300}) {
    for (const int64_t shift : {0, 1}) {
      const int64_t rows = n < 5 ? 37 : 3;
      const std::vector<T> x = Numbers<T>(rows * n + shift);
      for (const bool log : {false, true}) {
        std::vector<T> y(x.size(), T(77));
        SoftmaxRows(x.data() + shift, y.data() + shift, rows, n, log);
        if (shift != 0) {
          ASSERT_EQ(y[0], T(77));
        }
        for (int64_t row = 0; row < rows; ++row) {
          const auto part = [&](const std::vector<T>& of) {
            return std::vector<T>(of.begin() + shift + row * n, of.begin() + shift + (row + 1) * n);
          };
          ExpectSoftmax(part(x), part(y), n, 1, 1, log);
          if (testing::Test::HasFatalFailure()) return;
        }
        std::vector<T> in_place = x;
        SoftmaxRows(in_place.data() + shift, in_place.data() + shift, rows, n, log);
        if (shift != 0) in_place[0] = T(77);
        ASSERT_EQ(in_place, y) << n << " in place";
      }
    }
  }
}

template <class T>
void CompareColumns() {
  for (const int64_t n : {0, 1, 2, 5, 33, 2100}) {
    if (n > 100 && sizeof(T) == 8) continue;
    for (const int64_t columns : {0, 1, 2, 3, 4, 5, 8, 11, 16, 23, 63, 64, 65, 67, 130}) {
      if (n > 100 && columns > 8) continue;
      const int64_t stride = columns + 2;
      const std::vector<T> x = Numbers<T>(n * stride);
      for (const bool log : {false, true}) {
        std::vector<T> y(x.size(), T(77));
        SoftmaxColumns(x.data(), y.data(), n, columns, stride, log);
        ExpectSoftmax(x, y, n, columns, stride, log);
        if (testing::Test::HasFatalFailure()) return;
        std::vector<T> in_place = x;
        SoftmaxColumns(in_place.data(), in_place.data(), n, columns, stride, log);
        for (int64_t j = 0; j < n; ++j) {
          for (int64_t c = 0; c < stride; ++c) {
            const auto at = static_cast<size_t>(j * stride + c);
            ASSERT_EQ(in_place[at], c < columns ? y[at] : x[at]) << n << " x " << columns << " in place";
            ASSERT_TRUE(c < columns || y[at] == T(77)) << "wrote beyond the columns";
          }
        }
      }
    }
  }
}

TEST(Softmax, RowsAreTheDefinition) {
  ForEachIsa([] {
    CompareRows<float>();
    CompareRows<double>();
  });
}

TEST(Softmax, ColumnsAreTheDefinition) {
  ForEachIsa([] {
    CompareColumns<float>();
    CompareColumns<double>();
  });
}

TEST(Softmax, RowsAloneAreToTheBitWhatTheyAreTogether) {
  ForEachIsa([] {
    for (const int64_t n : {1, 2, 3, 4, 5, 9, 33}) {
      const int64_t rows = 37;
      const std::vector<float> x = Numbers<float>(rows * n);
      std::vector<float> together(x.size()), alone(x.size());
      SoftmaxRows(x.data(), together.data(), rows, n, false);
      for (int64_t row = 0; row < rows; ++row) SoftmaxRows(x.data() + row * n, alone.data() + row * n, 1, n, false);
      EXPECT_EQ(alone, together) << n;
    }
  });
}

TEST(Softmax, ExtremesAndWhatIsNoNumber) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  ForEachIsa([&] {
    for (const size_t n : {2u, 3u, 5u, 16u, 21u, 70u}) {
      for (const size_t place : {size_t{0}, n - 1}) {
        const auto both = [&](float first, float rest, bool log) {
          std::vector<float> x(n, rest), rows(n), columns(n);
          x[place] = first;
          SoftmaxRows(x.data(), rows.data(), 1, static_cast<int64_t>(n), log);
          SoftmaxColumns(x.data(), columns.data(), static_cast<int64_t>(n), 1, 1, log);
          for (size_t i = 0; i < n; ++i)
            EXPECT_TRUE(rows[i] == columns[i] || (std::isnan(rows[i]) && std::isnan(columns[i]))) << i;
          return rows;
        };
        for (const auto& [first, rest] : {std::pair{3e38f, -3e38f}, {0.0f, -1000.0f}, {-5.0f, -inf}}) {
          const std::vector<float> y = both(first, rest, false);
          for (size_t i = 0; i < n; ++i) EXPECT_EQ(y[i], i == place ? 1.0f : 0.0f) << n << " " << i;
        }
        EXPECT_EQ(both(-5.0f, -inf, true)[n - 1 - place], -inf);
        for (const auto& [first, rest] : {std::pair{nan, 1.0f}, {inf, 1.0f}, {-inf, -inf}})
          for (const bool log : {false, true})
            for (const float value : both(first, rest, log)) EXPECT_TRUE(std::isnan(value));
      }
    }
  });
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
