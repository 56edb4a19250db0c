// SPDX-License-Identifier: Apache-2.0
#include "kernels/order/order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <numeric>
#include <string>

#include "onnxseq/float16.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

using ::testing::ElementsAre;

TEST(Order, ComparesTheFirstDifference) {
  const float a[] = {1, 2, NAN}, b[] = {1, 2, 7};
  const CompareFn compare = CompareFnFor(TensorType::kFloat);
  EXPECT_EQ(compare(a, b, 2), 0);
  EXPECT_GT(compare(a, b, 3), 0);
  EXPECT_LT(compare(b, a, 3), 0);
  EXPECT_EQ(compare(a, a, 3), 0);
  const std::string s[] = {"a", "ab"};
  EXPECT_LT(CompareFnFor(TensorType::kString)(&s[0], &s[1], 1), 0);
  const std::complex<float> c[] = {{1, 2}, {1, 3}};
  EXPECT_LT(CompareFnFor(TensorType::kComplex64)(&c[0], &c[1], 1), 0);
  const uint64_t u[] = {0, ~uint64_t{0}};
  EXPECT_LT(CompareFnFor(TensorType::kUint64)(&u[0], &u[1], 1), 0);
  const bool t[] = {false, true};
  EXPECT_LT(CompareFnFor(TensorType::kBool)(&t[0], &t[1], 1), 0);
  EXPECT_EQ(CompareFnFor(TensorType::kInt4), nullptr);
}

TEST(Order, TakesTheGreatestAndTheLeast) {
  const std::vector<double> x = {3, NAN, 1, 3, -INFINITY};
  std::vector<double> values(3);
  std::vector<int64_t> indices(3);
  TopK(TensorType::kDouble, x.data(), values.data(), indices.data(), 1, 5, 1, 3, true);
  EXPECT_THAT(indices, ElementsAre(1, 0, 3));
  EXPECT_EQ(values[1], 3);
  TopK(TensorType::kDouble, x.data(), values.data(), indices.data(), 1, 5, 1, 3, false);
  EXPECT_THAT(indices, ElementsAre(4, 2, 0));
  EXPECT_THAT(values, ElementsAre(-INFINITY, 1, 3));
}

std::vector<int64_t> Mixed(int64_t n) {
  std::vector<int64_t> x;
  uint64_t bits = 1;
  while (static_cast<int64_t>(x.size()) < n)
    x.push_back(static_cast<int64_t>((bits = bits * 6364136223846793005u + 1442695040888963407u) >> 40));
  return x;
}

TEST(Order, SortsInRuns) {
  for (const int64_t n : {0, 1, 16383, 16384, 16385, 3 * 16384 + 5, 4 * 16384}) {
    std::vector<int64_t> x = Mixed(n), expected = x;
    SortUnlessStopped(std::span(x), [](int64_t a, int64_t b) { return a > b; });
    std::ranges::sort(expected, std::greater());
    EXPECT_EQ(x, expected) << n;
  }
}

TEST(Order, TakesFewOrManyOfALongAxis) {
  const auto n = (int64_t{1} << 20) + 3;
  const std::vector<int64_t> x = Mixed(n);
  std::vector<int64_t> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](int64_t i) { return std::pair(x[static_cast<size_t>(i)], i); });
  // The last is beyond where candidates are weeded out.
  for (const int64_t k : {int64_t{1}, int64_t{40000}, (int64_t{1} << 20) + 1}) {
    std::vector<int64_t> values(static_cast<size_t>(k)), indices(values.size());
    TopK(TensorType::kInt64, x.data(), values.data(), indices.data(), 1, n, 1, k, false);
    EXPECT_TRUE(std::equal(indices.begin(), indices.end(), order.begin())) << k;
    EXPECT_EQ(values.back(), x[static_cast<size_t>(order[static_cast<size_t>(k - 1)])]);
  }
}

// Of floats with NaN, infinities, both zeros and equal ones, against a sort; along the last axis and a middle
// one.
template <class T>
void ExpectStable(TensorType type) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  for (const int64_t n : {1, 2, 31, 33, 64, 300}) {
    for (const int64_t inner : {1, 3}) {
      std::vector<T> x;
      const std::vector<int64_t> mixed = Mixed(n * inner);
      for (const int64_t v : mixed)
        x.push_back(T(v % 11 == 0   ? nan
                      : v % 13 == 0 ? -nan
                      : v % 17 == 0 ? -inf
                      : v % 19 == 0 ? inf
                      : v % 5 == 0  ? -0.0f
                                    : static_cast<float>(v % 41 - 20) / 4));
      for (const int64_t k : {int64_t{1}, n / 2, n}) {
        for (const bool greatest : {false, true}) {
          std::vector<T> values(static_cast<size_t>(k * inner));
          std::vector<int64_t> indices(values.size());
          TopK(type, x.data(), values.data(), indices.data(), 1, n, inner, k, greatest);
          for (int64_t i = 0; i < inner; ++i) {
            std::vector<int64_t> order(static_cast<size_t>(n));
            std::iota(order.begin(), order.end(), 0);
            std::ranges::sort(order, [&](int64_t a, int64_t b) {
              const int compared =
                  CompareFnFor(type)(&x[static_cast<size_t>(a * inner + i)], &x[static_cast<size_t>(b * inner + i)], 1);
              return compared == 0 ? a < b : (compared > 0) == greatest;
            });
            for (int64_t j = 0; j < k; ++j)
              ASSERT_EQ(indices[static_cast<size_t>(j * inner + i)], order[static_cast<size_t>(j)])
                  << n << " " << k << " " << j;
          }
        }
      }
    }
  }
}
TEST(Order, KeepsTheOrderOfEqualOnes) {
  ExpectStable<float>(TensorType::kFloat);
  ExpectStable<double>(TensorType::kDouble);
  ExpectStable<Float16>(TensorType::kFloat16);
}

TEST(Order, TakesUnsignedNumbers) {
  const std::vector<uint64_t> x = {5, ~uint64_t{0}, 0, uint64_t{1} << 63, 5};
  std::vector<uint64_t> values(5);
  std::vector<int64_t> indices(5);
  TopK(TensorType::kUint64, x.data(), values.data(), indices.data(), 1, 5, 1, 5, true);
  EXPECT_THAT(indices, ElementsAre(1, 3, 0, 4, 2));
  TopK(TensorType::kUint64, x.data(), values.data(), indices.data(), 1, 5, 1, 3, false);
  EXPECT_THAT(indices, ElementsAre(2, 0, 4, 4, 2)) << "three are written";
}

TEST(Order, GoesAlongAMiddleAxis) {
  const std::vector<int8_t> x = {1, 9, 5, 2, 3, 4};  // [1,3,2]
  std::vector<int8_t> values(4);
  std::vector<int64_t> indices(4);
  TopK(TensorType::kInt8, x.data(), values.data(), indices.data(), 1, 3, 2, 2, true);
  EXPECT_THAT(values, ElementsAre(5, 9, 3, 4));
  EXPECT_THAT(indices, ElementsAre(1, 0, 2, 2));
  TopK(TensorType::kInt8, x.data(), nullptr, nullptr, 1, 3, 2, 0, true);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
