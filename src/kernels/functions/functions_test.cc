// SPDX-License-Identifier: Apache-2.0
#include "kernels/functions/functions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <vector>

#include "kernels/isa_test_util.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

Function WithNumbers(FunctionKind kind) {
  switch (kind) {
    case FunctionKind::kCelu:
      return {kind, 0.75f};
    case FunctionKind::kSelu:
      return {kind, 1.6732632f, 1.050701f};
    case FunctionKind::kSwish:
      return {kind, 1.25f};
    default:
      return {kind};
  }
}

std::vector<Function> AllFunctions() {
  std::vector<Function> all;
  for (int kind = 0; kind < kFunctionKinds; ++kind) all.push_back(WithNumbers(static_cast<FunctionKind>(kind)));
  return all;
}

// What the error is measured against: the result or, where terms of opposite sign are added up for it, x.
double SizeOf(const Function& function, double x, double truth) {
  switch (function.kind) {
    case FunctionKind::kGeluTanh:
    case FunctionKind::kHardSwish:
    case FunctionKind::kMish:
    case FunctionKind::kSwish:
      return std::max(std::abs(truth), std::abs(x));
    case FunctionKind::kGelu:
      return std::max(std::abs(truth), std::abs(x) / 8);
    case FunctionKind::kSin:
    case FunctionKind::kCos:
      // Near a multiple of pi the last bits of what pi is cut to show.
      return std::max(std::abs(truth), 0.25);
    default:
      return std::abs(truth);
  }
}

TEST(Functions, FloatsOfEveryExponentWithinFourUnits) {
  std::vector<float> x = {0.0f, -0.0f, 0.92f, -0.92f, 1.3f, 88.7f, 88.73f, -103.0f, 38999.0f, 39001.0f, 0.5f, 1.5f};
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 99991) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (std::isfinite(value) && std::abs(value) >= std::numeric_limits<float>::min()) x.push_back(value);
  }
  for (int i = -4000; i <= 4000; ++i) x.push_back(0.00317f * static_cast<float>(i));
  std::vector<float> y(x.size());
  ForEachIsa([&] {
    for (const Function& function : AllFunctions()) {
      ApplyFunction(function, static_cast<int64_t>(x.size()), x.data(), y.data());
      double most = 0;
      float at = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const auto exact = static_cast<double>(x[i]);
        const double truth = Evaluate(function, exact);
        if (std::isnan(truth) || std::abs(truth) > static_cast<double>(std::numeric_limits<float>::max())) {
          if (std::abs(exact) < 1e12) {
            EXPECT_FALSE(std::isfinite(y[i])) << static_cast<int>(function.kind) << " of " << x[i];
          }
          continue;
        }
        if (std::abs(truth) < 0x1p-125) {
          ASSERT_LE(std::abs(y[i]), 0x1p-124f) << static_cast<int>(function.kind) << " of " << x[i];
          continue;
        }
        const double unit = std::ldexp(1.0, std::ilogb(SizeOf(function, exact, truth)) - 23);
        const double error = std::abs(static_cast<double>(y[i]) - truth) / unit;
        if (!(error <= most)) {
          most = error;
          at = x[i];
        }
      }
      EXPECT_LE(most, 4.0) << static_cast<int>(function.kind) << " at " << at;
    }
  });
}

TEST(Functions, Limits) {
  ForEachIsa([] {
    const auto apply = [](FunctionKind kind, float x) {
      float y;
      ApplyFunction(WithNumbers(kind), 1, &x, &y);
      return y;
    };
    EXPECT_EQ(apply(FunctionKind::kExp, kInf), kInf);
    EXPECT_EQ(apply(FunctionKind::kExp, -kInf), 0.0f);
    EXPECT_EQ(apply(FunctionKind::kExp, 89.0f), kInf);
    EXPECT_EQ(apply(FunctionKind::kExp, 0.0f), 1.0f);
    EXPECT_EQ(apply(FunctionKind::kLog, kInf), kInf);
    EXPECT_EQ(apply(FunctionKind::kLog, 0.0f), -kInf);
    EXPECT_EQ(apply(FunctionKind::kLog, -0.0f), -kInf);
    EXPECT_EQ(apply(FunctionKind::kLog, 1.0f), 0.0f);
    EXPECT_TRUE(std::isnan(apply(FunctionKind::kLog, -1.0f)));
    EXPECT_TRUE(std::isnan(apply(FunctionKind::kLog, -kInf)));
    EXPECT_EQ(apply(FunctionKind::kErf, kInf), 1.0f);
    EXPECT_EQ(apply(FunctionKind::kErf, -kInf), -1.0f);
    EXPECT_TRUE(std::signbit(apply(FunctionKind::kErf, -0.0f)));
    EXPECT_EQ(apply(FunctionKind::kGelu, kInf), kInf);
    EXPECT_EQ(apply(FunctionKind::kGelu, -50.0f), 0.0f);
    EXPECT_EQ(apply(FunctionKind::kMish, kInf), kInf);
    EXPECT_FLOAT_EQ(apply(FunctionKind::kAtan, -kInf), -static_cast<float>(std::numbers::pi / 2));
    EXPECT_TRUE(std::signbit(apply(FunctionKind::kAtan, -0.0f)));
    EXPECT_EQ(apply(FunctionKind::kCelu, -kInf), -0.75f);
    const float minus_one = -1, minus_hundred = -100;
    float celu;
    ApplyFunction({FunctionKind::kCelu, -0.5f}, 1, &minus_one, &celu);  // -0.5 (e^2 - 1)
    EXPECT_FLOAT_EQ(celu, -3.194528f);
    ApplyFunction({FunctionKind::kCelu, -0.5f}, 1, &minus_hundred, &celu);
    EXPECT_EQ(celu, -kInf);
    EXPECT_EQ(apply(FunctionKind::kRound, 2.5f), 2.0f);
    EXPECT_EQ(apply(FunctionKind::kRound, -1.5f), -2.0f);
    EXPECT_EQ(apply(FunctionKind::kFloor, -0.5f), -1.0f);
    EXPECT_TRUE(std::signbit(apply(FunctionKind::kCeil, -0.5f)));
    EXPECT_EQ(apply(FunctionKind::kCeil, 1e30f), 1e30f);
    EXPECT_TRUE(std::isnan(apply(FunctionKind::kSqrt, -1.0f)));
    EXPECT_TRUE(std::isnan(apply(FunctionKind::kSin, kInf)));
    EXPECT_NEAR(apply(FunctionKind::kCos, 1e6f), 0.93675212753, 1e-6);
    for (const Function& function : AllFunctions())
      EXPECT_TRUE(std::isnan(apply(function.kind, std::nanf("")))) << static_cast<int>(function.kind);
  });
}

TEST(Functions, AnElementDependsOnItselfAlone) {
  ForEachIsa([] {
    for (const Function& function : AllFunctions()) {
      for (const int64_t n : {0, 1, 3, 4, 5, 15, 16, 17, 33, 67}) {
        std::vector<float> x(static_cast<size_t>(n) + 2, 77.0f), y(x);
        for (int64_t i = 0; i < n; ++i) x[static_cast<size_t>(i) + 1] = 0.37f * static_cast<float>(i - n / 3);
        ApplyFunction(function, n, x.data() + 1, y.data() + 1);
        EXPECT_EQ(y.front(), 77.0f);
        EXPECT_EQ(y.back(), 77.0f);
        for (size_t i = 1; i <= static_cast<size_t>(n); ++i) {
          float alone;
          ApplyFunction(function, 1, &x[i], &alone);
          EXPECT_EQ(std::bit_cast<uint32_t>(alone), std::bit_cast<uint32_t>(y[i])) << static_cast<int>(function.kind);
        }
        ApplyFunction(function, n, x.data() + 1, x.data() + 1);
        EXPECT_EQ(std::memcmp(x.data(), y.data(), x.size() * sizeof(float)), 0) << "in place";
      }
    }
  });
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
