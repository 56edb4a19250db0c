// SPDX-License-Identifier: Apache-2.0
#include "kernels/quantize/byte_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "kernels/isa_test_util.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

int32_t At(const std::vector<uint8_t>& bytes, size_t i, bool is_signed) {
  return is_signed ? int32_t{static_cast<int8_t>(bytes[i])} : int32_t{bytes[i]};
}
float Floating(int32_t byte, const ByteScale& from) { return static_cast<float>(byte - from.zero) * from.scale; }
int32_t Quantized(float x, const ByteScale& to) {
  const float steps = std::nearbyint(x / to.scale);
  const float held = std::isnan(steps) ? static_cast<float>(to.zero) : steps + static_cast<float>(to.zero);
  return static_cast<int32_t>(std::clamp(held, to.is_signed ? -128.0f : 0.0f, to.is_signed ? 127.0f : 255.0f));
}

constexpr ByteScale kScales[] = {{0.5f, 0, false}, {0.013f, 128, false}, {0.25f, -7, true}, {3, 127, true}};

std::vector<uint8_t> Bytes(uint32_t seed, int64_t n) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(static_cast<size_t>(n));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

TEST(ByteRowKernels, EqualTheDefinitionUnderEachIsa) {
  ForEachIsa([] {
    const ByteRowKernels& rows = ActiveByteRowKernels();
    for (const int64_t n : {0, 1, 7, 16, 17, 67})
      for (const ByteScale& of_a : kScales)
        for (const ByteScale& to : kScales) {
          const ByteScale of_b = {0.125f, to.zero / 2, of_a.is_signed};
          const std::vector<uint8_t> a = Bytes(1, n), b = Bytes(2, n);
          std::mt19937 random(3);
          std::vector<float> x(static_cast<size_t>(n)), floats(x.size()), factors(x.size());
          std::vector<int32_t> sums(x.size()), added(x.size()), less(x.size(), 5), less_one(x.size(), 5);
          for (size_t i = 0; i < x.size(); ++i) {
            x[i] = (static_cast<float>(random() % 4001) - 2000) * 0.25f * to.scale;  // ties, too
            sums[i] = static_cast<int32_t>(random() % 200000) - 100000;
            added[i] = static_cast<int32_t>(random() % 2000) - 1000;
            factors[i] = static_cast<float>(random() % 100) / 30000;
          }
          std::vector<uint8_t> y(x.size()), by_one(x.size()), plus(x.size()), times(x.size()), first(x.size());
          rows.quantize(x.data(), n, to, y.data());
          rows.dequantize(a.data(), n, of_a, floats.data());
          rows.subtract_multiple(sums.data(), 1, -70000, n, less.data());
          if (n > 0) rows.subtract_multiple(sums.data(), 0, 3, n, less_one.data());
          for (size_t i = 0; i < x.size(); ++i) {
            const auto wrapped = static_cast<uint32_t>(sums[i]) * 70000u + 5u;
            ASSERT_EQ(At(y, i, to.is_signed), Quantized(x[i], to)) << x[i];
            ASSERT_EQ(floats[i], Floating(At(a, i, of_a.is_signed), of_a));
            ASSERT_EQ(less[i], static_cast<int32_t>(wrapped));
            ASSERT_EQ(less_one[i], 5 - 3 * sums[0]);
          }
          if (n == 0) continue;
          const ByteScale steps = {1, to.zero, to.is_signed};
          rows.requantize(sums.data(), added.data(), factors.data(), 1, n, to, y.data());
          rows.requantize(sums.data(), nullptr, factors.data(), 0, n, to, by_one.data());
          rows.add(a.data(), 1, of_a, b.data(), 1, of_b, n, to, plus.data());
          rows.multiply(a.data(), 1, of_a, b.data(), 1, of_b, n, to, times.data());
          rows.add(a.data(), 0, of_a, b.data(), 1, of_b, n, to, first.data());
          for (size_t i = 0; i < x.size(); ++i) {
            const float fa = Floating(At(a, i, of_a.is_signed), of_a), fb = Floating(At(b, i, of_b.is_signed), of_b);
            ASSERT_EQ(At(y, i, to.is_signed), Quantized(static_cast<float>(sums[i] + added[i]) * factors[i], steps));
            ASSERT_EQ(At(by_one, i, to.is_signed), Quantized(static_cast<float>(sums[i]) * factors[0], steps));
            ASSERT_EQ(At(plus, i, to.is_signed), Quantized(fa + fb, to));
            ASSERT_EQ(At(times, i, to.is_signed), Quantized(fa * fb, to));
            ASSERT_EQ(At(first, i, to.is_signed), Quantized(Floating(At(a, 0, of_a.is_signed), of_a) + fb, to));
          }
        }
  });
}

TEST(ByteRowKernels, HoldWhatIsFarAndNoNumber) {
  ForEachIsa([] {
    const float x[] = {NAN, INFINITY, -INFINITY, 1e30f, -1e30f};
    uint8_t y[5];
    ActiveByteRowKernels().quantize(x, 5, {.scale = 1, .zero = 3}, y);
    EXPECT_EQ((std::vector<uint8_t>(y, y + 5)), (std::vector<uint8_t>{3, 255, 0, 255, 0}));
  });
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
