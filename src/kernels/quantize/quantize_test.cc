// SPDX-License-Identifier: Apache-2.0
#include "kernels/quantize/quantize.h"

#include <cmath>
#include <limits>

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

using ::testing::ElementsAre;

TEST(Quantize, RoundsToEvenAndSaturates) {
  const float x[] = {0.5f, 1.5f, -0.5f, 300, -300, NAN, INFINITY, 2.5f};
  const float scale = 1;
  const int32_t zero = 1;
  int8_t y[8];
  Quantize(x, &scale, &zero, TensorType::kFloat, TensorType::kInt8, y, {.n = 8});
  EXPECT_THAT(y, ElementsAre(1, 3, 1, 127, -128, 1, 127, 3));
  uint16_t z[8];
  Quantize(x, &scale, &zero, TensorType::kFloat, TensorType::kUint16, z, {.n = 8});
  EXPECT_THAT(z, ElementsAre(1, 3, 1, 301, 0, 1, 65535, 3));
}

TEST(Quantize, GoesByAxisAndByBlock) {
  const float x[] = {2, 4, 6, 8, 10, 12};
  const float scales[] = {1, 2, 4};
  const int32_t zeros[] = {0, 1, 0};
  uint8_t y[6];
  Quantize(x, scales, zeros, TensorType::kFloat, TensorType::kUint8, y, {.outer = 2, .n = 3, .step = 1});
  EXPECT_THAT(y, ElementsAre(2, 3, 2, 8, 6, 3));
  // [1,3,2] in blocks of two along the axis of three: scales [1,2,2].
  const float blocked[] = {1, 2, 2, 4};
  const int32_t none[] = {0, 0, 0, 0};
  Quantize(x, blocked, none, TensorType::kFloat, TensorType::kUint8, y,
           {.n = 3, .inner = 2, .outer_step = 4, .step = 2, .inner_step = 1, .block = 2});
  EXPECT_THAT(y, ElementsAre(2, 2, 6, 4, 5, 3));
}

TEST(Quantize, ComesBack) {
  const int32_t x[] = {1, -2, std::numeric_limits<int32_t>::min()};
  const float scale = 0.5f;
  const int32_t zero = 1;
  float y[3];
  Dequantize(x, &scale, &zero, y, {.n = 3});
  EXPECT_THAT(y, ElementsAre(0, -1.5f, -0x1p30f));
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
