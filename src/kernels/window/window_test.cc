// SPDX-License-Identifier: Apache-2.0
#include "kernels/window/window.h"

#include <cmath>

#include "onnxseq/float16.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

using ::testing::ElementsAre;

Window Line(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation, int64_t begin, int64_t end) {
  return {{in}, {out}, {kernel}, {stride}, {dilation}, {begin}, {end}};
}

TEST(Window, TableTellsPaddingFromBeyond) {
  EXPECT_THAT(WindowTable(Line(3, 3, 2, 2, 1, 1, 0), 0, 3), ElementsAre(kPadding, 0, 1, 2, kBeyond, kBeyond));
  EXPECT_THAT(WindowTable(Line(3, 2, 2, 1, 2, 1, 1), 1, 2), ElementsAre(0, 2));
  const Window plane{{2, 2}, {1, 1}, {2, 2}, {1, 1}, {1, 1}, {0, 1}, {0, 0}};
  EXPECT_THAT(WindowTable(plane, 0, 1), ElementsAre(kPadding, 0, kPadding, 2));
}

TEST(Window, ColumnsComeAndGo) {
  const float x[] = {1, 2, 3, 4, 5, 6};  // two channels of three
  const std::vector<int64_t> table = WindowTable(Line(3, 3, 2, 1, 1, 1, 0), 0, 3);
  float columns[12];
  GatherColumns(x, columns, 2, 3, 2, table);
  EXPECT_THAT(columns, ElementsAre(0, 1, 2, 1, 2, 3, 0, 4, 5, 4, 5, 6));
  float back[6] = {};
  AddColumns(columns, back, 2, 3, 2, table);
  EXPECT_THAT(back, ElementsAre(2, 4, 3, 8, 10, 6));
}

TEST(Window, PoolsCountWhatTheyShould) {
  const double x[] = {2, 4, 6};
  double y[3];
  const Window window = Line(3, 3, 2, 2, 1, 1, 0);
  AveragePool(TensorType::kDouble, x, y, 1, window, AverageOver::kInputs);
  EXPECT_THAT(y, ElementsAre(2, 5, 0));
  AveragePool(TensorType::kDouble, x, y, 1, window, AverageOver::kPadded);
  EXPECT_THAT(y, ElementsAre(1, 5, 0));
  LpPool(TensorType::kDouble, x, y, 1, window, 1);
  EXPECT_THAT(y, ElementsAre(2, 10, 0));
  LpPool(TensorType::kDouble, x, y, 1, window, 2);
  EXPECT_DOUBLE_EQ(y[1], std::sqrt(52));
  LpPool(TensorType::kDouble, x, y, 1, window, 3);
  EXPECT_DOUBLE_EQ(y[1], std::cbrt(280));
}

TEST(Window, MaxPoolTellsThePlace) {
  const float x[] = {-3, NAN, -5, -7, -7, -8};
  float y[4];
  int64_t places[4];
  MaxPool(TensorType::kFloat, x, y, places, 2, Line(3, 2, 2, 1, 1, 0, 0));
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_TRUE(std::isnan(y[1]));
  EXPECT_EQ(y[2], -7);
  EXPECT_THAT(places, ElementsAre(1, 1, 0, 1));
  const int8_t bytes[] = {-100, 5};
  int8_t best[1];
  MaxPool(TensorType::kInt8, bytes, best, nullptr, 1, Line(2, 1, 2, 1, 1, 0, 0));
  EXPECT_EQ(best[0], 5);
  const Float16 half[] = {Float16(1.5f)};
  Float16 most[2];
  MaxPool(TensorType::kFloat16, half, most, nullptr, 1, Line(1, 2, 1, 1, 1, 0, 1));
  EXPECT_EQ(static_cast<float>(most[0]), 1.5f);
  EXPECT_EQ(static_cast<float>(most[1]), -65504.f);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
