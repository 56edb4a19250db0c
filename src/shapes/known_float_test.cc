// SPDX-License-Identifier: Apache-2.0
#include "shapes/known_float.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {
namespace shapes {
namespace {

constexpr TensorType kType = TensorType::kFloat;

class KnownFloatTest : public ::testing::Test {
 protected:
  KnownFloat Of(const char* dim) { return *WholeFloat(ctx_, kType, OptimDim(dim)); }
  static KnownFloat Of(double constant) { return ConstantFloat(kType, constant); }
  std::optional<KnownFloat> Do(FloatOperation operation, KnownFloat a, KnownFloat b = {}) {
    const std::array<KnownFloat, 2> x = {std::move(a), std::move(b)};
    return operation(ctx_, kType, x);
  }
  // As an integer, "?" for nothing.
  static std::string Text(const std::optional<KnownFloat>& value) {
    const std::optional<OptimDim> whole = value ? Truncated(*value, kType) : std::nullopt;
    return whole ? whole->ToString() : "?";
  }
  ShapesContext ctx_;
};

TEST_F(KnownFloatTest, ScalesAreFractionsWhereTheyAreExact) {
  EXPECT_EQ(Text(Do(MultiplyFloats, Of("H"), Of(2))), "2*H");
  EXPECT_EQ(Text(Do(MultiplyFloats, Of(0.5), Of("H"))), "H//2");
  EXPECT_EQ(Text(Do(MultiplyFloats, Of("H"), Of(1.5))), "3*H//2");
  EXPECT_EQ(Text(Do(MultiplyFloats, Of("H"), Of(0.3))), "floor(H*0.3)");
  EXPECT_EQ(Text(Do(DivideFloats, Of("H"), Of(32))), "H//32");
  EXPECT_EQ(Text(Do(CeilFloat, *Do(DivideFloats, Of("H"), Of(32)))), "(H+31)//32");
  EXPECT_EQ(Text(Do(DivideFloats, Of("H"), Of(1.5))), "2*H//3");
  EXPECT_EQ(Text(Do(DivideFloats, Of("H"), Of("W"))), "H//W");
  EXPECT_EQ(Text(Do(DivideFloats, *Do(MultiplyFloats, Of("H"), Of(2)), Of("H"))), "2");
  EXPECT_EQ(Text(Do(AddFloats, *Do(MultiplyFloats, Of("H"), Of(0.5)), Of(0.5))), "(H+1)//2");
  EXPECT_EQ(Text(Do(SubtractFloats, Of("H+3"), Of(1))), "H+2");
  EXPECT_EQ(Text(Do(RoundFloat, Of("H"))), "H");
  EXPECT_EQ(Text(Do(MultiplyFloats, *Do(DivideFloats, Of("H"), Of(3)), Of(2))), "2*H//3");
}

TEST_F(KnownFloatTest, WhatRoundingDecidesIsNotKnown) {
  EXPECT_EQ(Text(Do(AddFloats, *Do(DivideFloats, Of("H"), Of(3)), Of(0.5))), "?");
  EXPECT_EQ(Text(Do(MultiplyFloats, *Do(DivideFloats, Of("H"), Of(3)), Of(3))), "?");
  EXPECT_EQ(Text(Do(DivideFloats, Of("H"), Of(0.3))), "?");
  EXPECT_EQ(Text(Do(MultiplyFloats, Of("H"), Of("W"))), "?");
  EXPECT_EQ(Text(Do(MultiplyFloats, Of("H"), Of(-1))), "?");
  EXPECT_EQ(Text(Do(SubtractFloats, Of("H"), Of(1))), "?");
  EXPECT_EQ(Text(Do(RoundFloat, *Do(MultiplyFloats, Of("H"), Of(0.5)))), "?");
  EXPECT_EQ(Text(Do(CeilFloat, *Do(MultiplyFloats, Of("H"), Of(0.3)))), "?");
  EXPECT_EQ(Text(Of(std::nan(""))), "?");
}

TEST_F(KnownFloatTest, ConstantsAreComputedInTheirType) {
  EXPECT_EQ(Do(AddFloats, Of(0.1), Of(0.2))->factor, static_cast<double>(0.1f + 0.2f));
  EXPECT_EQ(Do(DivideFloats, Of(1), Of(3))->factor, static_cast<double>(1.0f / 3.0f));
  EXPECT_EQ(Do(RoundFloat, Of(2.5))->factor, 2);
  EXPECT_EQ(Do(FloorFloat, Of(-0.5))->factor, -1);
  EXPECT_EQ(Quotient(TensorType::kDouble, 1, 3)->factor, 1.0 / 3.0);
  EXPECT_EQ(Quotient(kType, "N", 0), std::nullopt);
}

// Against floats themselves: every dim up to some thousands.
TEST_F(KnownFloatTest, FloorsAndCeilingsAreThoseOfFloats) {
  for (const double constant : {2.0, 0.5, 1.5, 0.25, 3.0, 7.0, 0.3, 32.0, 1.1}) {
    const auto c = static_cast<float>(constant);
    const std::optional<KnownFloat> product = Do(MultiplyFloats, Of("H"), Of(constant));
    const std::optional<KnownFloat> quotient = Do(DivideFloats, Of("H"), Of(constant));
    for (int64_t h = 0; h < 3000; ++h) {
      const auto value = [&](const std::optional<OptimDim>& dim) {
        return dim ? Evaluate(*dim, [&](std::string_view) { return std::optional(h); }) : std::nullopt;
      };
      const auto x = static_cast<float>(h);
      if (product) {
        ASSERT_EQ(value(Truncated(*product, kType)), static_cast<int64_t>(std::floor(x * c))) << h << " * " << c;
      }
      if (!quotient) continue;
      ASSERT_EQ(value(Truncated(*quotient, kType)), static_cast<int64_t>(std::floor(x / c))) << h << " / " << c;
      const std::optional<KnownFloat> ceiling = Do(CeilFloat, *quotient);
      ASSERT_TRUE(ceiling);
      ASSERT_EQ(value(Truncated(*ceiling, kType)), static_cast<int64_t>(std::ceil(x / c))) << h << " / " << c;
    }
  }
}

}  // namespace
}  // namespace shapes
}  // namespace onnx_optim
}  // namespace ONNX_LIGHT_NAMESPACE
