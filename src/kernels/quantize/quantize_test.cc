// SPDX-License-Identifier: Apache-2.0
#include "kernels/quantize/quantize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

using ::testing::ElementsAre;

TEST(Quantize, RoundsToEvenAndSaturates) {
  const float x[] = {0.5f, 1.5f, -0.5f, 300, -300, NAN, INFINITY, 2.5f};
  const float scale = 1;
  const double zero = 1;
  int8_t y[8];
  Quantize(x, &scale, &zero, TensorType::kFloat, TensorType::kInt8, true, y, {.n = 8});
  EXPECT_THAT(y, ElementsAre(1, 3, 1, 127, -128, 1, 127, 3));
  uint16_t z[8];
  Quantize(x, &scale, &zero, TensorType::kFloat, TensorType::kUint16, true, z, {.n = 8});
  EXPECT_THAT(z, ElementsAre(1, 3, 1, 301, 0, 1, 65535, 3));
}

TEST(Quantize, GoesByAxisAndByBlock) {
  const float x[] = {2, 4, 6, 8, 10, 12};
  const float scales[] = {1, 2, 4};
  const double zeros[] = {0, 1, 0};
  uint8_t y[6];
  Quantize(x, scales, zeros, TensorType::kFloat, TensorType::kUint8, true, y, {.outer = 2, .n = 3, .step = 1});
  EXPECT_THAT(y, ElementsAre(2, 3, 2, 8, 6, 3));
  // [1,3,2] in blocks of two along the axis of three: scales [1,2,2].
  const float blocked[] = {1, 2, 2, 4};
  const double none[] = {0, 0, 0, 0};
  Quantize(x, blocked, none, TensorType::kFloat, TensorType::kUint8, true, y,
           {.n = 3, .inner = 2, .outer_step = 4, .step = 2, .inner_step = 1, .block = 2});
  EXPECT_THAT(y, ElementsAre(2, 2, 6, 4, 5, 3));
}

TEST(Quantize, NarrowTypes) {
  const float x[] = {-20, -1.5f, 0.5f, 1.5f, 6, 300, NAN};
  const float scale = 1;
  const double zero = 0, one = 1;
  uint8_t y[7];
  Quantize(x, &scale, &one, TensorType::kFloat, TensorType::kInt4, true, y, {.n = 7});
  EXPECT_THAT(y, ElementsAre(8, 15, 1, 3, 7, 7, 1));  // -8, -1, ..
  Quantize(x, &scale, &zero, TensorType::kFloat, TensorType::kUint2, true, y, {.n = 7});
  EXPECT_THAT(y, ElementsAre(0, 0, 0, 2, 3, 3, 0));
  Quantize(x, &scale, &zero, TensorType::kFloat, TensorType::kFloat4e2m1, true, y, {.n = 7});
  EXPECT_THAT(y, ElementsAre(15, 11, 1, 3, 7, 7, 8));
  Quantize(x, &scale, &zero, TensorType::kFloat, TensorType::kFloat8e5m2, false, y, {.n = 7});
  EXPECT_THAT(y, ElementsAre(0xcd, 0xbe, 0x38, 0x3e, 0x46, 0x5d, 0x7e));
}

TEST(Quantize, ComesBack) {
  const double x[] = {1, -2, std::numeric_limits<int32_t>::min()};
  const float scale = 0.5f;
  const double zero = 1;
  float y[3];
  Dequantize(x, &scale, &zero, y, {.n = 3});
  EXPECT_THAT(y, ElementsAre(0, -1.5f, -0x1p30f));
}

TEST(Quantize, BytesComeBack) {
  const int8_t x[] = {1, -2, 127, -128, 0, 5};
  const float scales[] = {0.5f, 2};
  const double zeros[] = {1, -3};
  float y[6];
  DequantizeBytes(x, true, scales, zeros, y, {.n = 6});
  EXPECT_THAT(y, ElementsAre(0, -1.5f, 63, -64.5f, -0.5f, 2));
  DequantizeBytes(x, true, scales, zeros, y, {.outer = 3, .n = 2, .step = 1});
  EXPECT_THAT(y, ElementsAre(0, 2, 63, -250, -0.5f, 16));
  DequantizeBytes(x, false, scales, zeros, y, {.n = 2, .inner = 3, .step = 1});
  EXPECT_THAT(y, ElementsAre(0, 126.5f, 63, 262, 6, 16));
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
