// SPDX-License-Identifier: Apache-2.0
#include "kernels/cast/narrow_float.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "kernels/cast/cast.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

uint32_t FromHex(std::string_view digits) {
  uint32_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}

TEST(NarrowFloat, AgreesWithMlDtypes) {
  std::ifstream file(ONNXSEQ_TEST_DATA "/narrow_floats.txt");
  int lines = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string what, name, hex;
    words >> what >> name;
    if (what == "#") continue;
    SCOPED_TRACE(what + " " + name);
    const NarrowFloat* format = NarrowFloat::Find(onnx_optim::TensorTypeFromName(name));
    ASSERT_NE(format, nullptr);
    ++lines;
    if (what == "values") {
      words >> hex;
      for (size_t code = 0; code < hex.size() / 8; ++code) {
        const auto expected = static_cast<double>(std::bit_cast<float>(FromHex(hex.substr(8 * code, 8))));
        const double value = format->Value(static_cast<uint8_t>(code));
        if (std::isnan(expected)) {
          EXPECT_TRUE(std::isnan(value)) << code;
        } else {
          EXPECT_EQ(value, expected) << code;
          EXPECT_EQ(std::signbit(value), std::signbit(expected)) << code;
          EXPECT_EQ(format->Code(value, {.saturate = false}), code);
        }
      }
      continue;
    }
    int saturate = 0, first = 0, last = 0;
    words >> saturate >> first >> last >> hex;
    size_t at = 0;
    for (uint32_t sign = 0; sign < 2; ++sign) {
      for (int exponent = first; exponent <= last; ++exponent) {
        for (uint32_t mantissa = 0; mantissa < 32; ++mantissa, at += 2) {
          const uint32_t bits = sign << 31 | static_cast<uint32_t>(exponent + 127) << 23 | mantissa << 18;
          const auto x = static_cast<double>(std::bit_cast<float>(bits));
          ASSERT_EQ(format->Code(x, {.saturate = saturate != 0}), FromHex(hex.substr(at, 2))) << x;
        }
      }
    }
    EXPECT_EQ(at, hex.size());
  }
  EXPECT_EQ(lines, 8 + 4 * 2 + 3);
}

TEST(NarrowFloat, SpecialValues) {
  struct Row {
    TensorType type;
    double x;
    int saturated, other;
  };
  const Row rows[] = {
      {TensorType::kFloat8e4m3fn, kNaN, 0x7f, 0x7f},   {TensorType::kFloat8e4m3fn, -kNaN, 0xff, 0xff},
      {TensorType::kFloat8e4m3fn, kInf, 0x7e, 0x7f},   {TensorType::kFloat8e4m3fn, -kInf, 0xfe, 0xff},
      {TensorType::kFloat8e4m3fn, -0.0, 0x80, 0x80},   {TensorType::kFloat8e4m3fn, 464, 0x7e, 0x7e},
      {TensorType::kFloat8e4m3fn, 465, 0x7e, 0x7f},    {TensorType::kFloat8e4m3fnuz, kNaN, 0x80, 0x80},
      {TensorType::kFloat8e4m3fnuz, kInf, 0x7f, 0x80}, {TensorType::kFloat8e4m3fnuz, -kInf, 0xff, 0x80},
      {TensorType::kFloat8e4m3fnuz, -0.0, 0, 0},       {TensorType::kFloat8e4m3fnuz, -1e-30, 0, 0},
      {TensorType::kFloat8e5m2, kNaN, 0x7e, 0x7e},     {TensorType::kFloat8e5m2, -kNaN, 0xfe, 0xfe},
      {TensorType::kFloat8e5m2, kInf, 0x7b, 0x7c},     {TensorType::kFloat8e5m2, -kInf, 0xfb, 0xfc},
      {TensorType::kFloat8e5m2, -1e9, 0xfb, 0xfc},     {TensorType::kFloat8e5m2fnuz, kInf, 0x7f, 0x80},
      {TensorType::kFloat8e5m2fnuz, kNaN, 0x80, 0x80}, {TensorType::kFloat4e2m1, kInf, 7, 7},
      {TensorType::kFloat4e2m1, -kInf, 15, 15},        {TensorType::kFloat4e2m1, kNaN, 8, 8},
      {TensorType::kFloat4e2m1, 1e300, 7, 7},          {TensorType::kFloat6e2m3, kNaN, 0x20, 0x20},
      {TensorType::kFloat6e3m2, -kInf, 0x3f, 0x3f},    {TensorType::kFloat8e4m3fn, 0x1p-1074, 0, 0},
  };
  for (const auto& [type, x, saturated, other] : rows) {
    SCOPED_TRACE(std::string(onnx_optim::TensorTypeName(type)) + " of " + std::to_string(x));
    EXPECT_EQ(NarrowFloat::Find(type)->Code(x), saturated);
    EXPECT_EQ(NarrowFloat::Find(type)->Code(x, {.saturate = false}), other);
  }
  EXPECT_EQ(NarrowFloat::Find(TensorType::kFloat16), nullptr);
  EXPECT_EQ(NarrowFloat::Find(TensorType::kInt4), nullptr);
}

TEST(NarrowFloat, PowersOfTwoRoundAsAsked) {
  using Rounding = CastRules::Rounding;
  const NarrowFloat& powers = *NarrowFloat::Find(TensorType::kFloat8e8m0);
  const auto code = [&](double x, Rounding rounding, bool saturate) {
    return static_cast<int>(powers.Code(x, {.saturate = saturate, .rounding = rounding}));
  };
  struct Row {
    double x;
    int up, down, nearest;
  };
  const Row saturated[] = {{1, 127, 127, 127},   {1.5, 128, 127, 128},     {1.25, 128, 127, 127},
                           {3.9, 129, 128, 129}, {0x1p127, 254, 254, 254}, {0x1.1p127, 254, 254, 254},
                           {0x1p-127, 0, 0, 0},  {0x1.1p-128, 0, 0, 0},    {0, 0, 0, 0},
                           {-0.0, 0, 0, 0},      {kInf, 254, 254, 254},    {kNaN, 255, 255, 255},
                           {-1, 255, 255, 255},  {-kInf, 255, 255, 255}};
  for (const auto& [x, up, down, nearest] : saturated) {
    EXPECT_EQ(code(x, Rounding::kUp, true), up) << x;
    EXPECT_EQ(code(x, Rounding::kDown, true), down) << x;
    EXPECT_EQ(code(x, Rounding::kNearest, true), nearest) << x;
  }
  const Row other[] = {{0, 255, 255, 255},         {kInf, 255, 255, 255},     {0x1.1p127, 255, 254, 254},
                       {0x1.9p127, 255, 254, 255}, {0x1p-128, 255, 255, 255}, {0x1.9p-128, 0, 255, 0}};
  for (const auto& [x, up, down, nearest] : other) {
    EXPECT_EQ(code(x, Rounding::kUp, false), up) << x;
    EXPECT_EQ(code(x, Rounding::kDown, false), down) << x;
    EXPECT_EQ(code(x, Rounding::kNearest, false), nearest) << x;
  }
}

template <class To, class From>
std::vector<To> CastAll(const std::vector<From>& from, TensorType from_type, TensorType to_type) {
  std::vector<To> to(from.size());
  Cast(from.data(), from_type, to.data(), to_type, static_cast<int64_t>(from.size()));
  return to;
}

TEST(CastNarrow, WholeNumbersKeepTheirLowBits) {
  const std::vector<float> x = {-9, -8, -1, 0, 7, 8, 15, 16, 2.9f, -2.9f, 1e30f};
  EXPECT_EQ((CastAll<uint8_t>(x, TensorType::kFloat, TensorType::kInt4)),
            (std::vector<uint8_t>{7, 8, 15, 0, 7, 8, 15, 0, 2, 14, 15}));
  EXPECT_EQ((CastAll<uint8_t>(x, TensorType::kFloat, TensorType::kUint2)),
            (std::vector<uint8_t>{3, 0, 3, 0, 3, 0, 3, 0, 2, 2, 3}));
  // Codes with more above them than the type has, too.
  const std::vector<uint8_t> codes = {0, 1, 2, 7, 8, 15, 0xff, 0xf8, 0x17};
  EXPECT_EQ((CastAll<int32_t>(codes, TensorType::kInt4, TensorType::kInt32)),
            (std::vector<int32_t>{0, 1, 2, 7, -8, -1, -1, -8, 7}));
  EXPECT_EQ((CastAll<float>(codes, TensorType::kUint4, TensorType::kFloat)),
            (std::vector<float>{0, 1, 2, 7, 8, 15, 15, 8, 7}));
  EXPECT_EQ((CastAll<int8_t>(codes, TensorType::kInt2, TensorType::kInt8)),
            (std::vector<int8_t>{0, 1, -2, -1, 0, -1, -1, 0, -1}));
}

TEST(CastNarrow, GoesBetweenNarrowTypes) {
  EXPECT_EQ((CastAll<uint8_t>(std::vector<uint8_t>{8, 7, 15}, TensorType::kInt4, TensorType::kFloat8e4m3fn)),
            (std::vector<uint8_t>{0xd0, 0x4e, 0xb8}));
  EXPECT_EQ((CastAll<uint8_t>(std::vector<uint8_t>{0xd0, 0x4e, 0x7f}, TensorType::kFloat8e4m3fn, TensorType::kInt4)),
            (std::vector<uint8_t>{8, 7, 0}));
  EXPECT_EQ((CastAll<uint8_t>(std::vector<uint64_t>{~uint64_t{0}, 6}, TensorType::kUint64, TensorType::kFloat4e2m1)),
            (std::vector<uint8_t>{7, 7}));
}

TEST(CastNarrow, Text) {
  const std::vector<uint8_t> codes = {0x7f, 0x38, 0x01, 0xfe};
  std::vector<std::string> text(4);
  CastToString(codes.data(), TensorType::kFloat8e4m3fn, text.data(), 4);
  EXPECT_THAT(text, ::testing::ElementsAre("NaN", "1", "0.001953125", "-448"));
  std::vector<uint8_t> back(4);
  EXPECT_EQ(CastFromString(text.data(), back.data(), TensorType::kFloat8e4m3fn, 4), 4);
  EXPECT_EQ(back, codes);
  const std::vector<uint8_t> whole = {15, 7};
  CastToString(whole.data(), TensorType::kInt4, text.data(), 2);
  EXPECT_EQ(text[0], "-1");
  EXPECT_EQ(text[1], "7");
  EXPECT_EQ(CastFromString(text.data(), back.data(), TensorType::kInt4, 2), 2);
  EXPECT_EQ(back[0], 15);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
