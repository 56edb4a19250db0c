// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv/conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "kernels/isa_test_util.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

struct Case {
  int64_t batch, groups, in_channels, out_channels;
  std::vector<int64_t> in, kernel, stride, dilation, begin, end;
};

Window WindowOf(const Case& c) {
  Window window{c.in, {}, c.kernel, c.stride, c.dilation, c.begin, c.end};
  for (size_t d = 0; d < c.in.size(); ++d)
    window.out.push_back((c.in[d] + c.begin[d] + c.end[d] - (c.kernel[d] - 1) * c.dilation[d] - 1) / c.stride[d] + 1);
  return window;
}

// Lines, planes and spaces; groups, single channels, strides wider than the window, paddings wider than it, tiles that
// end unevenly.
const Case kCases[] = {
    {1, 1, 1, 1, {1}, {1}, {1}, {1}, {0}, {0}},
    {2, 1, 1, 1, {5}, {2}, {1}, {1}, {1}, {0}},
    {2, 1, 3, 5, {7}, {3}, {1}, {1}, {1}, {1}},
    {1, 1, 129, 66, {17}, {3}, {2}, {1}, {0}, {2}},
    {3, 2, 4, 6, {11}, {4}, {3}, {2}, {5}, {0}},
    {1, 5, 1, 1, {9}, {3}, {1}, {1}, {2}, {0}},
    {1, 1, 64, 48, {1031}, {5}, {1}, {3}, {12}, {0}},
    {1, 1, 2, 3, {5}, {2}, {4}, {1}, {0}, {0}},
    {1, 1, 2, 3, {1}, {3}, {1}, {4}, {8}, {1}},
    {2, 1, 3, 20, {9, 13}, {3, 5}, {1, 1}, {1, 1}, {0, 2}, {1, 2}},
    {1, 1, 1, 32, {40, 33}, {3, 3}, {1, 1}, {2, 1}, {1, 1}, {1, 1}},
    {1, 1, 32, 17, {30, 8}, {3, 3}, {2, 2}, {2, 2}, {1, 1}, {2, 2}},
    {1, 4, 3, 2, {6, 5}, {2, 3}, {1, 2}, {1, 1}, {1, 0}, {0, 1}},
    {2, 33, 1, 1, {21, 19}, {3, 3}, {1, 2}, {1, 1}, {1, 1}, {1, 1}},
    {1, 4, 1, 2, {6, 5}, {2, 3}, {1, 1}, {1, 1}, {1, 0}, {0, 1}},
    {2, 16, 1, 1, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {1, 19, 1, 1, {2, 3}, {5, 5}, {1, 1}, {1, 1}, {2, 3}, {2, 1}},
    {1, 17, 1, 1, {9, 40}, {2, 3}, {3, 2}, {2, 4}, {0, 9}, {3, 8}},
    {1, 32, 1, 1, {300, 70}, {3, 3}, {2, 1}, {1, 1}, {1, 1}, {0, 1}},
    {1, 18, 1, 1, {6, 5}, {3, 2}, {1, 1}, {1, 1}, {-1, -1}, {0, 0}},
    {4, 1, 70, 40, {3, 4}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {1, 1, 40, 70, {13, 4}, {1, 1}, {2, 1}, {1, 1}, {0, 0}, {0, 0}},
    {1, 1, 4, 9, {5, 6, 7}, {2, 3, 2}, {1, 2, 1}, {1, 1, 2}, {1, 0, 1}, {0, 1, 1}},
    {1, 3, 2, 2, {4, 4, 4}, {3, 1, 3}, {1, 1, 1}, {1, 1, 1}, {1, 0, 1}, {1, 0, 1}},
    {1, 1, 2, 2, {3, 3, 3, 3}, {2, 2, 2, 2}, {1, 1, 1, 1}, {1, 1, 1, 1}, {0, 0, 1, 0}, {0, 0, 0, 0}},
    {37, 1, 8, 8, {5, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {1, 1, 64, 48, {28, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {1, 1, 32, 70, {33, 9}, {3, 3}, {1, 1}, {2, 1}, {1, 1}, {1, 1}},
    {2, 1, 5, 33, {40}, {3}, {1}, {1}, {1}, {1}},
    {1, 1, 40, 40, {3001}, {3}, {1}, {1}, {0}, {0}},
    {1, 1, 7, 3, {6, 5, 4}, {2, 3, 3}, {2, 1, 1}, {1, 2, 1}, {1, 2, 1}, {0, 2, 1}},
    {1, 1, 3, 2, {4, 3}, {2, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
};

bool HasThreePlaces(const Case& c) {
  return c.groups == 1 && c.kernel.back() == 3 && c.stride.back() == 1 && c.dilation.back() == 1;
}

template <class T>
struct Data {
  std::vector<T> x, w, bias;
  Data(const Case& c, uint32_t seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<T> number(-1, 1);
    const auto fill = [&](std::vector<T>& to, int64_t size) {
      to.resize(static_cast<size_t>(size));
      for (T& value : to) value = number(engine);
    };
    const Window window = WindowOf(c);
    fill(x, c.batch * c.groups * c.in_channels * window.InSize());
    fill(w, c.groups * c.out_channels * c.in_channels * window.KernelSize());
    fill(bias, c.groups * c.out_channels);
  }
};

template <class T>
std::vector<T> RunCase(const Case& c, const Data<T>& data, bool with_bias, ConvMethod method, ThreadTeam* team) {
  const Window window = WindowOf(c);
  std::vector<T> y(static_cast<size_t>(c.batch * c.groups * c.out_channels * window.OutSize()), T(777));
  const PackedConv<T> conv({c.groups, c.in_channels, c.out_channels}, c.kernel, c.dilation, data.w.data(),
                           with_bias ? data.bias.data() : nullptr, true);
  const ConvMethod ran = conv.Run(c.batch, window, {}, data.x.data(), y.data(), team, 0, method);
  // What oneDNN has plain loops for is ours, and what has more axes than it knows.
  if (method == ConvMethod::kOwn || (method == ConvMethod::kDnn && c.in.size() <= ONNXSEQ_DNN_MAX_AXES)) {
    EXPECT_EQ(ran, method);
  }
  if (method == ConvMethod::kDepthwise && c.in_channels * c.out_channels == 1 && c.in.size() == 2) {
    EXPECT_EQ(ran, method);
  }
  if (method == ConvMethod::kWinograd) {
    EXPECT_EQ(ran, HasThreePlaces(c) ? ConvMethod::kWinograd : ConvMethod::kOwn);
  }
  return y;
}

template <class T>
void ExpectAllCases(ConvMethod method) {
  ThreadTeam team(3);
  for (size_t i = 0; i < std::size(kCases); ++i) {
    const Case& c = kCases[i];
    const Data<T> data(c, static_cast<uint32_t>(i));
    const Window window = WindowOf(c);
    for (const bool with_bias : {false, true}) {
      const std::vector<T> y = RunCase(c, data, with_bias, method, nullptr);
      std::vector<T> expected(y.size());
      ConvReference(c.batch, c.groups, c.in_channels, c.out_channels, window, data.x.data(), data.w.data(),
                    with_bias ? data.bias.data() : nullptr, expected.data());
      // Terms are at most 1 in size. Winograd's bound (winograd.h) is 12 (k / 3 + 6) k / 3, which is less than this one
      // but for few terms.
      const auto terms = static_cast<double>(c.in_channels * window.KernelSize() + 2);
      const double bound = terms * (terms + 16) * static_cast<double>(std::numeric_limits<T>::epsilon());
      for (size_t at = 0; at < y.size(); ++at) ASSERT_NEAR(y[at], expected[at], bound) << "case " << i << " at " << at;
      EXPECT_EQ(RunCase(c, data, with_bias, method, &team), y) << "case " << i << " on three threads";
    }
  }
}

TEST(Conv, OwnFloat) {
  ForEachIsa([] { ExpectAllCases<float>(ConvMethod::kOwn); });
}
TEST(Conv, OwnDouble) {
  ForEachIsa([] { ExpectAllCases<double>(ConvMethod::kOwn); });
}
TEST(Conv, PlanesFloat) {
  ForEachIsa([] { ExpectAllCases<float>(ConvMethod::kPlanes); });
}
TEST(Conv, PlanesDouble) {
  ForEachIsa([] { ExpectAllCases<double>(ConvMethod::kPlanes); });
}
TEST(Conv, DepthwiseFloat) {
  ForEachIsa([] { ExpectAllCases<float>(ConvMethod::kDepthwise); });
}
TEST(Conv, DepthwiseDouble) {
  ForEachIsa([] { ExpectAllCases<double>(ConvMethod::kDepthwise); });
}
TEST(Conv, WinogradFloat) {
  ForEachIsa([] { ExpectAllCases<float>(ConvMethod::kWinograd); });
}
TEST(Conv, WinogradDouble) { ExpectAllCases<double>(ConvMethod::kWinograd); }

// Whole numbers of some bits come out exactly: halves of sums of weights are representable.
TEST(Conv, WinogradOfWholeNumbersIsExact) {
  const Case c{1, 1, 32, 40, {9, 11}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  Data<double> data(c, 1);
  for (std::vector<double>* numbers : {&data.x, &data.w, &data.bias})
    for (double& value : *numbers) value = std::round(value * 255);
  const std::vector<double> y = RunCase(c, data, true, ConvMethod::kWinograd, nullptr);
  EXPECT_EQ(y, RunCase(c, data, true, ConvMethod::kOwn, nullptr));
}

TEST(Conv, WinogradKeepsANanWhereItIsSeen) {
  const Case c{1, 1, 1, 1, {8}, {3}, {1}, {1}, {0}, {0}};
  Data<float> data(c, 1);
  for (size_t at = 0; at < 8; ++at) {
    std::vector<float> x = data.x;
    std::swap(x, data.x);
    data.x[at] = NAN;
    const std::vector<float> y = RunCase(c, data, false, ConvMethod::kWinograd, nullptr);
    for (size_t j = 0; j < y.size(); ++j) EXPECT_EQ(std::isnan(y[j]), j <= at && at <= j + 2) << j << " of " << at;
    data.x = x;
  }
}

TEST(Conv, OneDnn) {
  ASSERT_NE(Dnn(), nullptr) << DescribeDnn();
  ExpectAllCases<float>(ConvMethod::kDnn);
}
TEST(Conv, BySize) { ExpectAllCases<float>(ConvMethod::kBySize); }

// A function and a pool over tiles give what they give over the whole, to the bit.
template <class T>
void ExpectEpilogues(const Case& c, const ConvPool& pool, ConvMethod method) {
  const Data<T> data(c, 5);
  const Window window = WindowOf(c);
  std::vector<T> all = RunCase(c, data, true, method, nullptr);
  const Activation leaky{ActivationKind::kLeakyRelu, 0.1, 0};
  ApplyActivation(leaky, static_cast<int64_t>(all.size()), all.data(), all.data());
  std::vector<T> expected = all;
  const int64_t planes = c.batch * c.groups * c.out_channels;
  if (!pool.kernel.empty()) {
    Window over{window.out, window.out, pool.kernel, pool.stride, {}, {}, {}};
    over.dilation.assign(over.in.size(), 1);
    over.begin = over.end = std::vector<int64_t>(over.in.size(), 0);
    for (size_t d = 0; d < over.in.size(); ++d) over.out[d] = (over.in[d] - over.kernel[d]) / over.stride[d] + 1;
    expected.resize(static_cast<size_t>(planes * over.OutSize()));
    MaxPool(std::is_same_v<T, float> ? TensorType::kFloat : TensorType::kDouble, all.data(), expected.data(), nullptr,
            planes, over);
  }
  const PackedConv<T> conv({c.groups, c.in_channels, c.out_channels}, c.kernel, c.dilation, data.w.data(),
                           data.bias.data(), true);
  ThreadTeam team(3);
  for (const int threads : {1, 3}) {
    std::vector<T> y(expected.size(), T(777));
    conv.Run(c.batch, window, {leaky, pool}, data.x.data(), y.data(), &team, threads, method);
    EXPECT_EQ(y, expected);
  }
}

TEST(Conv, EpiloguesAreDoneByTile) {
  for (const ConvMethod method : {ConvMethod::kOwn, ConvMethod::kPlanes, ConvMethod::kWinograd, ConvMethod::kDnn}) {
    const Case plane{2, 1, 20, 70, {203, 31}, {3, 3}, {1, 1}, {2, 1}, {1, 1}, {1, 1}};
    ExpectEpilogues<float>(plane, {}, method);
    ExpectEpilogues<float>(plane, {{1, 4}, {1, 4}}, method);
    ExpectEpilogues<float>(plane, {{2, 2}, {2, 2}}, method);
    ExpectEpilogues<float>(plane, {{2, 3}, {7, 1}}, method);
    ExpectEpilogues<float>({1, 1, 40, 33, {2000}, {3}, {1}, {1}, {1}, {1}}, {{3}, {3}}, method);
    ExpectEpilogues<float>({9, 1, 3, 4, {8}, {1}, {1}, {1}, {0}, {0}}, {{8}, {8}}, method);
    ExpectEpilogues<float>({1, 4, 2, 3, {8, 9}, {2, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}, {{1, 2}, {3, 2}}, method);
  }
  ExpectEpilogues<float>({2, 21, 1, 1, {40, 9}, {3, 3}, {1, 2}, {1, 1}, {1, 1}, {1, 1}}, {{2, 1}, {2, 1}},
                         ConvMethod::kDepthwise);
  // Padding that is not written out.
  ExpectEpilogues<float>({1, 1, 1, 1, {2}, {2}, {1 << 30}, {1 << 30}, {1 << 30}, {1 << 30}}, {{2}, {2}},
                         ConvMethod::kBySize);
  ExpectEpilogues<double>({1, 1, 3, 17, {64, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, {{2, 2}, {2, 2}},
                          ConvMethod::kBySize);
}

// Padding out of all proportion is not written out.
TEST(Conv, HugePaddingTakesNoMemory) {
  const Case c{1, 1, 1, 1, {2}, {2}, {1 << 30}, {1 << 30}, {1 << 30}, {1 << 30}};
  const Window window = WindowOf(c);
  ASSERT_EQ(window.out[0], 2);
  const Data<float> data(c, 7);
  const std::vector<float> y = RunCase(c, data, false, ConvMethod::kBySize, nullptr);
  EXPECT_EQ(y[0], data.x[0] * data.w[1]);
  EXPECT_EQ(y[1], data.x[0] * data.w[0]);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
