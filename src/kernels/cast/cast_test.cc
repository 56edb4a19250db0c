// SPDX-License-Identifier: Apache-2.0
#include "kernels/cast/cast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/cast/half_rows.h"
#include "kernels/isa_test_util.h"
#include "onnxseq/float16.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

template <class To, class From>
std::vector<To> CastAll(const std::vector<From>& from, TensorType from_type, TensorType to_type) {
  std::vector<To> to(from.size());
  Cast(from.data(), from_type, to.data(), to_type, static_cast<int64_t>(from.size()));
  return to;
}

TEST(Cast, FloatingToIntegerSaturatesAtTheExactBounds) {
  constexpr auto kMax = std::numeric_limits<int64_t>::max();
  constexpr auto kMin = std::numeric_limits<int64_t>::min();
  const std::vector<double> x = {0x1p63, std::nextafter(0x1p63, 0.0), -0x1p63, -0x1.8p63, std::nan(""), -0.9};
  EXPECT_EQ((CastAll<int64_t>(x, TensorType::kDouble, TensorType::kInt64)),
            (std::vector<int64_t>{kMax, kMax - 1023, kMin, kMin, 0, 0}));
  const std::vector<float> y = {127.9f, 128.f, -128.9f, -129.f};
  EXPECT_EQ((CastAll<int8_t>(y, TensorType::kFloat, TensorType::kInt8)), (std::vector<int8_t>{127, 127, -128, -128}));
  EXPECT_EQ((CastAll<uint64_t>(std::vector<double>{0x1p64, -1.0, 0x1p63}, TensorType::kDouble, TensorType::kUint64)),
            (std::vector<uint64_t>{std::numeric_limits<uint64_t>::max(), 0, uint64_t{1} << 63}));
}

TEST(Cast, GoesThroughBlocks) {
  for (const int n : {0, 1, 255, 256, 257, 1000}) {
    std::vector<int32_t> x(static_cast<size_t>(n));
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int32_t>(i) - 3;
    const std::vector<float> y = CastAll<float>(x, TensorType::kInt32, TensorType::kFloat);
    for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], static_cast<float>(x[i]));
  }
}

// Rows of halves against the conversion of one, at every length around the vectors' and misaligned; every half, and
// floats between and beyond them.
template <class Half>
void CompareRows() {
  std::vector<Half> halves;
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const Half half = Half::FromBits(static_cast<uint16_t>(bits));
    if (!std::isnan(static_cast<float>(half))) halves.push_back(half);
  }
  std::vector<float> floats(halves.size() + 1);
  FloatsOf(halves.data(), static_cast<int64_t>(halves.size()), floats.data() + 1);
  for (size_t i = 0; i < halves.size(); ++i) ASSERT_EQ(floats[i + 1], static_cast<float>(halves[i]));
  std::vector<float> x;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 9973) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(bits));
    // Runs may flush denormal floats, which hardware and arithmetic see differently.
    if (!std::isnan(value) && (value == 0 || std::abs(value) >= std::numeric_limits<float>::min())) x.push_back(value);
  }
  for (size_t i = 1; i + 1 < floats.size(); ++i) x.push_back((floats[i] + floats[i + 1]) / 2);
  std::erase_if(x, [](float value) { return std::isnan(value); });
  for (const int64_t n : {int64_t{0}, int64_t{1}, int64_t{7}, int64_t{8}, int64_t{15}, int64_t{17}, int64_t{33},
                          static_cast<int64_t>(x.size()) - 1}) {
    std::vector<Half> to(static_cast<size_t>(n) + 2, Half(7.0f));
    HalvesOf(x.data() + 1, n, to.data() + 1);
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(to[i + 1].bits, Half(x[i + 1]).bits) << x[i + 1];
    EXPECT_EQ(to.front().bits, Half(7.0f).bits);
    EXPECT_EQ(to.back().bits, Half(7.0f).bits);
  }
}

TEST(HalfRows, EqualTheConversionsOfOne) {
  ForEachIsa([] {
    CompareRows<Float16>();
    CompareRows<BFloat16>();
  });
}

TEST(Cast, IntegersKeepTheirLowBits) {
  EXPECT_EQ((CastAll<int8_t>(std::vector<uint64_t>{~uint64_t{0}, 0x1ff, 0x80}, TensorType::kUint64, TensorType::kInt8)),
            (std::vector<int8_t>{-1, -1, -128}));
  EXPECT_EQ((CastAll<uint64_t>(std::vector<int8_t>{-1}, TensorType::kInt8, TensorType::kUint64)),
            (std::vector<uint64_t>{~uint64_t{0}}));
}

TEST(Cast, Text) {
  const std::vector<std::string> text = {"1e400", "-1e400", "1e-400", "1.5", "x", "2"};
  std::vector<double> numbers(text.size());
  EXPECT_EQ(CastFromString(text.data(), numbers.data(), TensorType::kDouble, 6), 4);
  EXPECT_EQ(numbers[0], std::numeric_limits<double>::infinity());
  EXPECT_EQ(numbers[1], -std::numeric_limits<double>::infinity());
  EXPECT_EQ(numbers[2], 0);
  EXPECT_EQ(numbers[3], 1.5);
  for (const std::string bad : {"", " ", "1 2", "--1", "+-1", "0x", "1e", "nanx"}) {
    EXPECT_EQ(CastFromString(&bad, numbers.data(), TensorType::kDouble, 1), 0) << bad;
    EXPECT_EQ(CastFromString(&bad, numbers.data(), TensorType::kInt64, 1), 0) << bad;
  }
  std::vector<std::string> back(2);
  const std::vector<float> floats = {0.1f, 16777216.f};
  CastToString(floats.data(), TensorType::kFloat, back.data(), 2);
  EXPECT_THAT(back, ::testing::ElementsAre("0.1", "16777216"));
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
