// SPDX-License-Identifier: Apache-2.0
#include "kernels/activation/activation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <limits>

#include "kernels/isa_test_util.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

// Distance to the true value in units in the last place of a float of that size; below 2^-126 a float has no full
// precision.
double UlpError(float got, double truth) {
  const double size = std::max(std::abs(truth), static_cast<double>(std::numeric_limits<float>::min()));
  return std::abs(static_cast<double>(got) - truth) / std::ldexp(1.0, std::ilogb(size) - 23);
}

// Floats of every exponent and both signs, 2^32 / 99991 of them.
std::vector<float> Sweep() {
  std::vector<float> values = {0.0f,  -0.0f,   kInf,   -kInf,  87.0f,   -87.0f,     -87.4f,
                               88.8f, -100.0f, 104.0f, 0.625f, -0.625f, 0.62499994f};
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 99991) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (!std::isnan(value)) values.push_back(value);
  }
  return values;
}

TEST(Activation, SigmoidAndTanhWithinThreeUlp) {
  const std::vector<float> x = Sweep();
  std::vector<float> y(x.size());
  ForEachIsa([&] {
    const auto worst = [&](ActivationKind kind, auto truth) {
      ApplyActivation(Activation::Default(kind), static_cast<int64_t>(x.size()), x.data(), y.data());
      double most = 0;
      float at = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const double error = UlpError(y[i], truth(static_cast<double>(x[i])));
        if (error > most && std::abs(truth(static_cast<double>(x[i]))) >= 0x1p-125) {
          most = error;
          at = x[i];
        }
      }
      for (size_t i = 0; i < x.size(); ++i) {
        if (std::abs(truth(static_cast<double>(x[i]))) < 0x1p-125) {
          ASSERT_LE(std::abs(y[i]), 0x1p-125f) << x[i];
        }
      }
      EXPECT_LE(most, 3.0) << ActivationName(kind) << " at " << at;
      EXPECT_GT(most, 0.3) << "nothing was compared";
    };
    worst(ActivationKind::kSigmoid, [](double v) { return 1 / (1 + std::exp(-v)); });
    worst(ActivationKind::kTanh, [](double v) { return std::tanh(v); });
    // Negative results of tanh: the function is odd, bit for bit.
    std::vector<float> negated(x.size()), odd(x.size());
    std::transform(x.begin(), x.end(), negated.begin(), [](float v) { return -v; });
    ApplyActivation(Activation::Default(ActivationKind::kTanh), static_cast<int64_t>(x.size()), negated.data(),
                    odd.data());
    for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(odd[i], -y[i]) << x[i];
  });
}

TEST(Activation, Limits) {
  ForEachIsa([] {
    const auto apply = [](ActivationKind kind, float x) {
      float y;
      ApplyActivation(Activation::Default(kind), 1, &x, &y);
      return y;
    };
    EXPECT_EQ(apply(ActivationKind::kSigmoid, kInf), 1.0f);
    EXPECT_EQ(apply(ActivationKind::kSigmoid, -kInf), 0.0f);
    EXPECT_EQ(apply(ActivationKind::kSigmoid, -100.0f), 0.0f);
    EXPECT_NEAR(apply(ActivationKind::kSigmoid, -80.0f), 1.8048513878454153e-35, 1e-41);
    EXPECT_EQ(apply(ActivationKind::kSigmoid, 100.0f), 1.0f);
    EXPECT_EQ(apply(ActivationKind::kSigmoid, 0.0f), 0.5f);
    EXPECT_EQ(apply(ActivationKind::kTanh, kInf), 1.0f);
    EXPECT_EQ(apply(ActivationKind::kTanh, -kInf), -1.0f);
    EXPECT_EQ(apply(ActivationKind::kTanh, 1e-20f), 1e-20f);
    EXPECT_TRUE(std::signbit(apply(ActivationKind::kTanh, -0.0f)));
    EXPECT_EQ(apply(ActivationKind::kSoftplus, kInf), kInf);
    EXPECT_EQ(apply(ActivationKind::kSoftplus, -kInf), 0.0f);
    EXPECT_EQ(apply(ActivationKind::kSoftsign, kInf), 1.0f);
    EXPECT_EQ(apply(ActivationKind::kSoftsign, -kInf), -1.0f);
    EXPECT_EQ(apply(ActivationKind::kElu, -kInf), -1.0f);
    EXPECT_EQ(apply(ActivationKind::kHardSigmoid, kInf), 1.0f);
    EXPECT_EQ(apply(ActivationKind::kHardSigmoid, -kInf), 0.0f);
    for (int kind = 0; kind < kActivationKinds; ++kind)
      EXPECT_TRUE(std::isnan(apply(static_cast<ActivationKind>(kind), std::nanf(""))))
          << ActivationName(static_cast<ActivationKind>(kind));
  });
}

TEST(Activation, PlainDefinitions) {
  const auto value = [](ActivationKind kind, double alpha, double beta, double x) {
    return Activate(Activation{kind, alpha, beta}, x);
  };
  EXPECT_DOUBLE_EQ(value(ActivationKind::kSigmoid, 9, 9, -1), 1 / (1 + std::exp(1.0)));
  EXPECT_EQ(value(ActivationKind::kSigmoid, 0, 0, -1000), 0.0);
  EXPECT_DOUBLE_EQ(value(ActivationKind::kSigmoid, 0, 0, -700), std::exp(-700.0));
  EXPECT_DOUBLE_EQ(value(ActivationKind::kTanh, 9, 9, 0.5), std::tanh(0.5));
  EXPECT_EQ(value(ActivationKind::kRelu, 0, 0, -2), 0);
  EXPECT_EQ(value(ActivationKind::kRelu, 0, 0, 2), 2);
  EXPECT_EQ(value(ActivationKind::kHardSigmoid, 0.25, 0.5, 1), 0.75);
  EXPECT_EQ(value(ActivationKind::kHardSigmoid, 0.25, 0.5, 3), 1);
  EXPECT_EQ(value(ActivationKind::kHardSigmoid, 0.25, 0.5, -3), 0);
  EXPECT_EQ(value(ActivationKind::kAffine, 2, -1, 3), 5);
  EXPECT_EQ(value(ActivationKind::kLeakyRelu, 0.5, 0, -3), -1.5);
  EXPECT_EQ(value(ActivationKind::kLeakyRelu, 0.5, 0, 3), 3);
  EXPECT_EQ(value(ActivationKind::kThresholdedRelu, 2, 0, 2), 2) << "at the threshold the value stays";
  EXPECT_EQ(value(ActivationKind::kThresholdedRelu, 2, 0, 1.5), 0);
  EXPECT_DOUBLE_EQ(value(ActivationKind::kScaledTanh, 3, 0.5, 2), 3 * std::tanh(1.0));
  EXPECT_DOUBLE_EQ(value(ActivationKind::kElu, 2, 0, -1), 2 * (std::exp(-1.0) - 1));
  EXPECT_EQ(value(ActivationKind::kElu, 2, 0, 4), 4);
  EXPECT_EQ(value(ActivationKind::kSoftsign, 0, 0, -3), -0.75);
  EXPECT_DOUBLE_EQ(value(ActivationKind::kSoftplus, 0, 0, 1), std::log1p(std::exp(1.0)));
  EXPECT_EQ(value(ActivationKind::kSoftplus, 0, 0, 1000), 1000);
}

TEST(Activation, OnnxDefaults) {
  const auto expect = [](ActivationKind kind, double alpha, double beta) {
    EXPECT_EQ(Activation::Default(kind), (Activation{kind, alpha, beta})) << ActivationName(kind);
  };
  expect(ActivationKind::kHardSigmoid, 0.2, 0.5);
  expect(ActivationKind::kAffine, 1, 0);
  expect(ActivationKind::kLeakyRelu, 0.01, 0);
  expect(ActivationKind::kThresholdedRelu, 1, 0);
  expect(ActivationKind::kScaledTanh, 1, 1);
  expect(ActivationKind::kElu, 1, 0);
}

TEST(Activation, Names) {
  for (int kind = 0; kind < kActivationKinds; ++kind) {
    const auto expected = static_cast<ActivationKind>(kind);
    std::string name(ActivationName(expected));
    EXPECT_EQ(ActivationFromName(name), expected);
    for (char& c : name) c = static_cast<char>(std::tolower(c));
    EXPECT_EQ(ActivationFromName(name), expected) << name;
    EXPECT_EQ(ActivationFromName(name + "x"), std::nullopt);
  }
  EXPECT_EQ(ActivationFromName(""), std::nullopt);
  EXPECT_TRUE(TakesAlpha(ActivationKind::kHardSigmoid) && TakesBeta(ActivationKind::kHardSigmoid));
  EXPECT_TRUE(TakesAlpha(ActivationKind::kElu) && !TakesBeta(ActivationKind::kElu));
  EXPECT_FALSE(TakesAlpha(ActivationKind::kSigmoid) || TakesBeta(ActivationKind::kSoftplus));
}

// Every kind, every length around the vector widths, misaligned, in place, against the plain definition.
template <class T>
void CompareSpans() {
  for (int kind = 0; kind < kActivationKinds; ++kind) {
    Activation activation = Activation::Default(static_cast<ActivationKind>(kind));
    if (activation.kind == ActivationKind::kScaledTanh) activation.alpha = 1.5;
    for (const int64_t n : {0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 67}) {
      std::vector<T> x(n + 2, T(77)), y(n + 2, T(77));
      for (int64_t i = 0; i < n; ++i) x[i + 1] = T(0.37) * static_cast<T>(i - n / 2);
      ApplyActivation(activation, n, x.data() + 1, y.data() + 1);
      for (int64_t i = 0; i < n; ++i) {
        const T expected = Activate(activation, x[i + 1]);
        // The terms of alpha x + beta may cancel: 3 units of the larger one.
        const double scale =
            std::max({std::abs(static_cast<double>(expected)), std::abs(static_cast<double>(x[i + 1])) * 0.2, 1e-3});
        ASSERT_NEAR(y[i + 1], expected, sizeof(T) == 4 ? scale * 5e-7 : scale * 1e-15)
            << ActivationName(activation.kind) << " of " << x[i + 1];
        T alone;
        ApplyActivation(activation, 1, x.data() + 1 + i, &alone);
        ASSERT_EQ(alone, y[i + 1]) << "depends on its place";
      }
      EXPECT_EQ(y[0], T(77));
      EXPECT_EQ(y[n + 1], T(77)) << "wrote beyond the end";
      ApplyActivation(activation, n, x.data() + 1, x.data() + 1);
      EXPECT_TRUE(std::equal(x.begin(), x.end(), y.begin())) << "in place";
    }
  }
}

TEST(Activation, SpansEqualThePlainDefinition) {
  ForEachIsa([] {
    CompareSpans<float>();
    CompareSpans<double>();
  });
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
