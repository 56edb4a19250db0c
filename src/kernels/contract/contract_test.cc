// SPDX-License-Identifier: Apache-2.0
#include "kernels/contract/contract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "onnxseq/float16.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

using ::testing::ElementsAre;

TEST(Contract, IsAMatrixProduct) {
  const int32_t a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 0, 2, 1, 0, 3};  // [2,3], [3,2]
  int32_t c[4];
  const void* const operands[] = {a, b};
  Contract(TensorType::kInt32, operands, {.out_dims = {2, 2}, .sum_dims = {3}, .strides = {{3, 0, 1}, {0, 1, 2}}}, c);
  EXPECT_THAT(c, ElementsAre(5, 11, 14, 23));
}

TEST(Contract, TakesDiagonalsAndSumsOfNothing) {
  const double a[] = {1, 2, 3, 4};
  double y[2];
  const void* const operands[] = {a};
  Contract(TensorType::kDouble, operands, {.out_dims = {2}, .sum_dims = {}, .strides = {{3}}}, y);
  EXPECT_THAT(y, ElementsAre(1, 4));
  Contract(TensorType::kDouble, operands, {.out_dims = {2}, .sum_dims = {0}, .strides = {{2, 1}}}, y);
  EXPECT_THAT(y, ElementsAre(0, 0));
}

TEST(Contract, IntegersWrapAndHalvesAreFloats) {
  const int8_t a[] = {100, 100};
  int8_t y[1];
  const void* const operands[] = {a};
  Contract(TensorType::kInt8, operands, {.out_dims = {}, .sum_dims = {2}, .strides = {{1}}}, y);
  EXPECT_EQ(y[0], -56);
  const Float16 h[] = {Float16(2048.f), Float16(1.f), Float16(1.f)};
  Float16 s[1];
  const void* const halves[] = {h};
  Contract(TensorType::kFloat16, halves, {.out_dims = {}, .sum_dims = {3}, .strides = {{1}}}, s);
  EXPECT_EQ(static_cast<float>(s[0]), 2050);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
