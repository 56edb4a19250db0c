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
  for (const int64_t n : {0, 1, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 131, 300}) {
    const std::vector<float> x = Numbers(n + 1);
    A acc = A(3);
    double expected = 3;
    const int64_t done = FoldFloats(fold, x.data() + 1, &acc, n);
    ASSERT_LE(done, n);
    ASSERT_GT(done + 64, n) << "whole vectors were left";
    for (int64_t i = 0; i < done; ++i) expected = Stepped(fold, expected, x[static_cast<size_t>(i) + 1]);
    EXPECT_EQ(static_cast<double>(acc), expected) << n;
    std::vector<A> each(x.size(), A(3));
    const int64_t each_done = FoldFloatsEach(fold, x.data() + 1, each.data() + 1, n);
    ASSERT_LE(each_done, n);
    ASSERT_GT(each_done + 16, n) << "whole vectors were left";
    for (int64_t i = 0; i <= n; ++i) {
      const bool folded = i > 0 && i <= each_done;
      EXPECT_EQ(static_cast<double>(each[static_cast<size_t>(i)]),
                folded ? Stepped(fold, 3, x[static_cast<size_t>(i)]) : 3.0)
          << n << " " << i;
    }
  }
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
      for (size_t place = 0; place < 128; ++place) {
        std::vector<float> x = Numbers(128), each(128, start);
        x[place] = std::nanf("");
        float acc = start;
        ASSERT_EQ(FoldFloats(fold, x.data(), &acc, 128), 128);
        EXPECT_TRUE(std::isnan(acc)) << place;
        ASSERT_EQ(FoldFloatsEach(fold, x.data(), each.data(), 128), 128);
        EXPECT_TRUE(std::isnan(each[place])) << place;
        // It stays.
        const std::vector<float> more = Numbers(128);
        FoldFloatsEach(fold, more.data(), each.data(), 128);
        FoldFloats(fold, more.data(), &acc, 128);
        EXPECT_TRUE(std::isnan(each[place]) && std::isnan(acc)) << place;
      }
    }
  });
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
