// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv/conv_transpose.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

struct Case {
  int64_t batch, groups, in_channels, out_channels;
  std::vector<int64_t> x, kernel, stride, dilation, begin, y;
};

const Case kCases[] = {
    {1, 1, 1, 1, {3}, {2}, {1}, {1}, {0}, {4}},
    {2, 1, 17, 33, {9}, {4}, {2}, {1}, {1}, {18}},  // cut at both ends
    {1, 1, 8, 16, {5}, {3}, {4}, {1}, {0}, {21}},   // places between that no input reaches, more at the end
    {3, 2, 4, 6, {5, 4}, {3, 2}, {2, 1}, {1, 2}, {1, 0}, {9, 6}},
    {1, 5, 1, 1, {6, 7}, {3, 3}, {1, 2}, {1, 1}, {0, 1}, {8, 13}},
    {1, 1, 3, 5, {2, 3, 2}, {2, 1, 2}, {1, 1, 2}, {1, 1, 1}, {0, 0, 0}, {3, 3, 4}},
};

// Each input spread over the outputs it reaches.
std::vector<float> Expected(const Case& c, const Window& window, const std::vector<float>& x,
                            const std::vector<float>& w, const std::vector<float>& bias) {
  const int64_t x_size = window.OutSize(), y_size = window.InSize(), places = window.KernelSize();
  const std::vector<int64_t> table = WindowTable(window, 0, x_size);
  std::vector<double> sums(static_cast<size_t>(c.batch * c.groups * c.out_channels * y_size));
  for (size_t i = 0; i < sums.size(); ++i)
    sums[i] = bias[i / static_cast<size_t>(y_size) % static_cast<size_t>(c.groups * c.out_channels)];
  for (int64_t channel = 0; channel < c.batch * c.groups * c.in_channels; ++channel) {
    const int64_t own = channel % (c.groups * c.in_channels), group = channel / c.in_channels;
    for (int64_t o = 0; o < c.out_channels; ++o)
      for (int64_t i = 0; i < x_size; ++i)
        for (int64_t k = 0; k < places; ++k) {
          const int64_t at = table[static_cast<size_t>(i * places + k)];
          if (at >= 0)
            sums[static_cast<size_t>((group * c.out_channels + o) * y_size + at)] +=
                static_cast<double>(x[static_cast<size_t>(channel * x_size + i)]) *
                static_cast<double>(w[static_cast<size_t>((own * c.out_channels + o) * places + k)]);
        }
  }
  return {sums.begin(), sums.end()};
}

TEST(ConvTranspose, OneDnn) {
  ASSERT_NE(Dnn(), nullptr) << DescribeDnn();
  ThreadTeam team(3);
  std::mt19937 engine(5);
  std::uniform_real_distribution<float> number(-1, 1);
  const auto random = [&](int64_t size) {
    std::vector<float> values(static_cast<size_t>(size));
    for (float& value : values) value = number(engine);
    return values;
  };
  for (size_t i = 0; i < std::size(kCases); ++i) {
    const Case& c = kCases[i];
    // Nothing is beyond the padding at the end.
    const Window window{c.y, c.x, c.kernel, c.stride, c.dilation, c.begin, std::vector<int64_t>(c.x.size(), 100)};
    const std::vector<float> x = random(c.batch * c.groups * c.in_channels * window.OutSize());
    const std::vector<float> w = random(c.groups * c.in_channels * c.out_channels * window.KernelSize());
    const std::vector<float> bias = random(c.groups * c.out_channels);
    const std::vector<float> expected = Expected(c, window, x, w, bias);
    std::vector<float> y(expected.size(), 777), again(expected.size(), 778);
    DnnWeights weights;
    const auto run = [&](std::vector<float>& to, ThreadTeam* on) {
      return DnnConvTranspose(c.batch, c.groups, c.in_channels, c.out_channels, window, x.data(), w.data(), bias.data(),
                              to.data(), weights, on, 0, ConvMethod::kDnn);
    };
    ASSERT_TRUE(run(y, nullptr)) << "case " << i;
    const auto terms = static_cast<float>(c.in_channels * window.KernelSize() + 2);
    for (size_t at = 0; at < y.size(); ++at)
      ASSERT_NEAR(y[at], expected[at], terms * terms * std::numeric_limits<float>::epsilon()) << "case " << i;
    ASSERT_TRUE(run(again, &team));
    EXPECT_EQ(again, y);
  }
}

TEST(ConvTranspose, SmallOnesAreLeftToTheCaller) {
  const Window window{{2}, {2}, {1}, {1}, {1}, {0}, {0}};
  const float x[] = {1, 2}, w[] = {1};
  float y[2];
  DnnWeights weights;
  EXPECT_FALSE(DnnConvTranspose(1, 1, 1, 1, window, x, w, nullptr, y, weights));
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
