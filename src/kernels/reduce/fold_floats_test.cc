// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce/fold_floats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/isa_test_util.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// Whole numbers and halves of them: every order of a sum gives the same.
std::vector<float> Numbers(int64_t n) {
  std::vector<float> x(static_cast<size_t>(n));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(static_cast<int64_t>(i * i % 97) - 48) / 2;
  return x;
}

double Stepped(FloatFold fold, double acc, float x) {
  switch (fold) {
    case FloatFold::kSum:
      return acc + static_cast<double>(x);
    case FloatFold::kSumOfMagnitudes:
      return acc + std::abs(static_cast<double>(x));
    case FloatFold::kSumOfSquares:
      return acc + static_cast<double>(x) * static_cast<double>(x);
    case FloatFold::kGreatest:
      return std::isnan(x) || static_cast<double>(x) > acc ? static_cast<double>(x) : acc;
    case FloatFold::kLeast:
      break;
  }
  return std::isnan(x) || static_cast<double>(x) < acc ? static_cast<double>(x) : acc;
}

template <class A>
void Compare(FloatFold fold) {
  for (const int64_t rows : {1, 2, 7}) {
    for (const int64_t n : {0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 131, 300}) {
      const std::vector<float> x = Numbers(rows * n + 1);
      const float* const first = x.data() + 1;
      // One place more than is written.
      std::vector<A> acc(static_cast<size_t>(rows) + 1, A(3)), each(static_cast<size_t>(n) + 1, A(3));
      std::vector<double> expected(acc.size(), 3), expected_each(each.size(), 3);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t i = 0; i < n; ++i) {
          double &row = expected[static_cast<size_t>(r)], &column = expected_each[static_cast<size_t>(i)];
          row = Stepped(fold, row, first[r * n + i]);
          column = Stepped(fold, column, first[r * n + i]);
        }
      }
      FoldFloats(fold, first, acc.data(), n, rows);
      FoldFloatsEach(fold, first, each.data(), n, rows);
      EXPECT_EQ(std::vector<double>(acc.begin(), acc.end()), expected) << rows << " rows of " << n;
      EXPECT_EQ(std::vector<double>(each.begin(), each.end()), expected_each) << rows << " rows of " << n;
    }
  }
}

// Rows too many to go down their columns, and the same sums of the one row and of many.
TEST(FoldFloats, ManyRows) {
  ForEachIsa([] {
    const int64_t n = 67, rows = 1000;
    std::vector<float> x = Numbers(n * rows);
    for (float& v : x) v = v / 3;
    std::vector<double> each(67), expected(67), acc(1000);
    FoldFloatsEach(FloatFold::kSum, x.data(), each.data(), n, rows);
    FoldFloats(FloatFold::kSum, x.data(), acc.data(), n, rows);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t i = 0; i < n; ++i)
        expected[static_cast<size_t>(i)] += static_cast<double>(x[static_cast<size_t>(r * n + i)]);
      double one = 0;
      FoldFloats(FloatFold::kSum, x.data() + r * n, &one, n, 1);
      EXPECT_EQ(acc[static_cast<size_t>(r)], one) << r;
    }
    EXPECT_EQ(each, expected);
  });
}

TEST(FoldFloats, IsTheFoldOneByOne) {
  ForEachIsa([] {
    Compare<double>(FloatFold::kSum);
    Compare<double>(FloatFold::kSumOfMagnitudes);
    Compare<double>(FloatFold::kSumOfSquares);
    Compare<float>(FloatFold::kGreatest);
    Compare<float>(FloatFold::kLeast);
  });
}

TEST(FoldFloats, NanBeatsEveryNumber) {
  const float inf = std::numeric_limits<float>::infinity();
  ForEachIsa([&] {
    for (const FloatFold fold : {FloatFold::kGreatest, FloatFold::kLeast}) {
      const float start = fold == FloatFold::kGreatest ? -inf : inf;
      for (const int64_t n : {2, 3, 4, 7, 8, 13, 128}) {
        for (size_t place = 0; place < static_cast<size_t>(n); ++place) {
          std::vector<float> x = Numbers(n), each(x.size(), start);
          const std::vector<float> numbers = x;
          x[place] = std::nanf("");
          float acc = start;
          FoldFloats(fold, x.data(), &acc, n, 1);
          EXPECT_TRUE(std::isnan(acc)) << place;
          FoldFloatsEach(fold, x.data(), each.data(), n, 1);
          EXPECT_TRUE(std::isnan(each[place])) << place;
          // It stays.
          FoldFloatsEach(fold, numbers.data(), each.data(), n, 1);
          FoldFloats(fold, numbers.data(), &acc, n, 1);
          EXPECT_TRUE(std::isnan(each[place]) && std::isnan(acc)) << place;
        }
      }
    }
  });
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
