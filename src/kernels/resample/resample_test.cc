// SPDX-License-Identifier: Apache-2.0
#include "kernels/resample/resample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

TEST(Resample, SumsItsTaps) {
  Taps taps;
  taps.Add(0, 0.5);
  taps.Add(1, 0.5);
  taps.EndOutput();
  taps.EndOutput();
  taps.Add(1, 2);
  taps.EndOutput();
  ASSERT_EQ(taps.outputs(), 3);
  const float x[] = {1, 2, 3, 4, 5, 6, 7, 8};  // [2, 2, 2]
  float y[12];
  Resample(x, y, 2, 2, 2, taps);
  EXPECT_THAT(y, ::testing::ElementsAre(2, 3, 0, 0, 6, 8, 6, 7, 0, 0, 14, 16));
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
