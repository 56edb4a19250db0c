// SPDX-License-Identifier: Apache-2.0
#include "kernels/window/window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/isa_test_util.h"
#include "kernels/window/max_rows.h"
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

TEST(Window, ColumnsAreAddedWhereTheyCameFrom) {
  const std::vector<int64_t> table = WindowTable(Line(3, 3, 2, 1, 1, 1, 0), 0, 3);
  const float columns[] = {0, 1, 2, 1, 2, 3, 7, 4, 5, 4, 5, 6};  // of two channels of three; the 7 lies in the padding
  float x[6] = {};
  AddColumns(columns, x, 2, 3, 2, table);
  EXPECT_THAT(x, ElementsAre(2, 4, 3, 8, 10, 6));
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

// Strides, dilations, padding and rows longer than what is handled at once, against the table.
TEST(Window, PoolsAgreeWithTheTable) {
  const Window windows[] = {
      {{7}, {7}, {3}, {1}, {1}, {1}, {1}},
      {{5000}, {1250}, {4}, {4}, {1}, {0}, {0}},
      {{4999}, {1667}, {3}, {3}, {2}, {2}, {4}},
      {{6, 8}, {6, 2}, {1, 4}, {1, 4}, {1, 1}, {0, 0}, {0, 0}},
      {{5, 9}, {3, 5}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
      {{3, 4, 33}, {2, 4, 9}, {2, 1, 5}, {1, 1, 4}, {1, 1, 2}, {0, 0, 5}, {0, 0, 6}},
      {{2}, {2}, {2}, {9}, {3}, {1}, {12}},
  };
  for (const Window& window : windows) {
    const int64_t planes = 3, in = window.InSize(), out = window.OutSize(), kernel = window.KernelSize();
    std::vector<float> x(static_cast<size_t>(planes * in)), most(static_cast<size_t>(planes * out)), mean(most.size());
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 2654435761u % 1009) - 500;
    std::vector<float> most_again = most;
    std::vector<int64_t> places(most.size());
    MaxPool(TensorType::kFloat, x.data(), most.data(), nullptr, planes, window);
    MaxPool(TensorType::kFloat, x.data(), most_again.data(), places.data(), planes, window);
    AveragePool(TensorType::kFloat, x.data(), mean.data(), planes, window, AverageOver::kInputs);
    const std::vector<int64_t> table = WindowTable(window, 0, out);
    for (int64_t i = 0; i < planes * out; ++i) {
      float best = std::numeric_limits<float>::lowest();
      double sum = 0;
      int64_t count = 0, place = 0;
      for (int64_t k = 0; k < kernel; ++k) {
        const int64_t at = table[static_cast<size_t>(i % out * kernel + k)];
        if (at < 0) continue;
        const float value = x[static_cast<size_t>(i / out * in + at)];
        sum += value;
        ++count;
        if (value > best) {
          best = value;
          place = at;
        }
      }
      const auto o = static_cast<size_t>(i);
      ASSERT_EQ(most[o], best) << "output " << i << " of " << in;
      ASSERT_EQ(most_again[o], best);
      ASSERT_EQ(places[o], place);
      ASSERT_FLOAT_EQ(mean[o], static_cast<float>(sum / static_cast<double>(std::max<int64_t>(1, count))));
    }
  }
}

TEST(Window, GreatestOfRows) {
  ForEachIsa([] {
    for (const int64_t channels : {1, 15, 16, 17, 40}) {
      std::vector<float> x(static_cast<size_t>(4 * channels));
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 2654435761u % 1009) - 500;
      x[static_cast<size_t>(channels)] = NAN;
      const std::vector<int64_t> outputs{0, 2 * channels, channels}, places{0, channels};
      std::vector<float> y(static_cast<size_t>(3 * channels));
      MaxRows(outputs, places, channels, x.data(), y.data());
      for (size_t o = 0; o < outputs.size(); ++o)
        for (int64_t c = 0; c < channels; ++c) {
          const float a = x[static_cast<size_t>(outputs[o] + c)], b = x[static_cast<size_t>(outputs[o] + channels + c)];
          const float got = y[o * static_cast<size_t>(channels) + static_cast<size_t>(c)];
          if (c == 0 && o != 1)
            EXPECT_TRUE(std::isnan(got)) << o;
          else
            EXPECT_EQ(got, std::max(a, b)) << o << " " << c << " of " << channels;
        }
    }
  });
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
