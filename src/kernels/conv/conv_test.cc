// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv/conv.h"

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
    {4, 1, 70, 40, {3, 4}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {1, 1, 40, 70, {13, 4}, {1, 1}, {2, 1}, {1, 1}, {0, 0}, {0, 0}},
    {1, 1, 4, 9, {5, 6, 7}, {2, 3, 2}, {1, 2, 1}, {1, 1, 2}, {1, 0, 1}, {0, 1, 1}},
    {1, 3, 2, 2, {4, 4, 4}, {3, 1, 3}, {1, 1, 1}, {1, 1, 1}, {1, 0, 1}, {1, 0, 1}},
    {1, 1, 2, 2, {3, 3, 3, 3}, {2, 2, 2, 2}, {1, 1, 1, 1}, {1, 1, 1, 1}, {0, 0, 1, 0}, {0, 0, 0, 0}},
    {37, 1, 8, 8, {5, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {1, 1, 64, 48, {28, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
};

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
  const PackedConv<T> conv(c.groups, c.in_channels, c.out_channels, c.kernel, c.dilation, data.w.data(),
                           with_bias ? data.bias.data() : nullptr, true);
  const ConvMethod ran = conv.Run(c.batch, window, data.x.data(), y.data(), team, 0, method);
  // What oneDNN has plain loops for is ours, and what has more axes than it knows.
  if (method == ConvMethod::kOwn || (method == ConvMethod::kDnn && c.in.size() <= ONNXSEQ_DNN_MAX_AXES)) {
    EXPECT_EQ(ran, method);
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
      // Terms are at most 1 in size.
      const auto terms = static_cast<double>(c.in_channels * window.KernelSize() + 2);
      const double bound = terms * terms * static_cast<double>(std::numeric_limits<T>::epsilon());
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
TEST(Conv, OneDnn) {
  ASSERT_NE(Dnn(), nullptr) << DescribeDnn();
  ExpectAllCases<float>(ConvMethod::kDnn);
}
TEST(Conv, BySize) { ExpectAllCases<float>(ConvMethod::kBySize); }

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
