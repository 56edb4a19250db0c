// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv/depthwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/conv/conv.h"
#include "kernels/isa_test_util.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

constexpr int64_t kGuard = 67;  // numbers around what is read and written, not a multiple of a vector

// Inputs of `out` outputs, cut or padded at both ends.
Window WindowOf(std::vector<int64_t> out, std::vector<int64_t> kernel, std::vector<int64_t> stride,
                std::vector<int64_t> dilation, std::vector<int64_t> begin, std::vector<int64_t> end) {
  Window window{{}, out, kernel, stride, dilation, begin, end};
  for (size_t d = 0; d < 2; ++d)
    window.in.push_back((out[d] - 1) * stride[d] + (kernel[d] - 1) * dilation[d] + 1 - begin[d] - end[d]);
  return window;
}

template <class T>
struct Data {
  int64_t batch, channels;
  Window window;
  std::vector<T> x, w, bias;  // x between guards of NaN

  Data(int64_t images, int64_t planes, const Window& of) : batch(images), channels(planes), window(of) {
    std::mt19937 engine(3);
    std::uniform_real_distribution<T> number(-1, 1);
    x.assign(static_cast<size_t>(batch * channels * window.InSize() + 2 * kGuard), std::numeric_limits<T>::quiet_NaN());
    w.resize(static_cast<size_t>(channels * window.KernelSize()));
    bias.resize(static_cast<size_t>(channels));
    for (size_t i = kGuard; i + kGuard < x.size(); ++i) x[i] = number(engine);
    for (T& value : w) value = number(engine);
    for (T& value : bias) value = number(engine);
  }

  int64_t Size() const { return batch * channels * window.OutSize(); }

  // What stands around them is left alone.
  std::vector<T> Run(const std::optional<Activation>& activation = {}, ThreadTeam* team = nullptr) const {
    EXPECT_TRUE(DepthwiseConv<T>::Fits(window));
    std::vector<T> y(static_cast<size_t>(Size() + 2 * kGuard), T(777));
    const DepthwiseConv<T> conv(channels, window.kernel[0], window.kernel[1], w.data(), bias.data(), true);
    conv.Run(batch, window, activation, x.data() + kGuard, y.data() + kGuard, team, 0);
    for (size_t i = 0; i < kGuard; ++i) {
      EXPECT_EQ(y[i], T(777));
      EXPECT_EQ(y[y.size() - 1 - i], T(777));
    }
    return {y.begin() + kGuard, y.end() - kGuard};
  }

  std::vector<T> Expected() const {
    std::vector<T> y(static_cast<size_t>(Size()));
    ConvReference(batch, channels, 1, 1, window, x.data() + kGuard, w.data(), bias.data(), y.data());
    return y;
  }
};

template <class T>
void ExpectAsReference(const Data<T>& data) {
  const std::vector<T> y = data.Run(), expected = data.Expected();
  const auto terms = static_cast<double>(data.window.KernelSize() + 1);
  // Terms are at most 1 in size.
  const double bound = terms * (terms + 1) * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i], bound) << "at " << i;
  ThreadTeam team(3);
  EXPECT_EQ(data.Run({}, &team), y);
}

// Windows that have kernels of their own and others, about vectors and tiles of rows.
template <class T>
void ExpectSizes() {
  const std::vector<int64_t> kernels[] = {{1, 7}, {3, 3}, {5, 5}, {7, 2}, {2, 3}, {3, 1}};
  for (const std::vector<int64_t>& kernel : kernels)
    for (const int64_t stride : {1, 2, 3})
      for (const int64_t rows : {1, 2, 3, 4, 5, 9})
        for (const int64_t columns : {1, 3, 4, 7, 8, 9, 15, 16, 17, 35, 65, 131}) {
          SCOPED_TRACE(testing::Message()
                       << kernel[0] << 'x' << kernel[1] << " stride " << stride << ", " << rows << 'x' << columns);
          // As much padding as keeps the size, where there are inputs then.
          std::vector<int64_t> pad{kernel[0] / 2, kernel[1] / 2};
          if (rows == 1) pad[0] = 0;
          if (columns == 1) pad[1] = 0;
          ExpectAsReference(Data<T>(1, 3, WindowOf({rows, columns}, kernel, {stride, stride}, {1, 1}, pad, pad)));
        }
}

TEST(Depthwise, SizesOfFloats) {
  ForEachIsa([] { ExpectSizes<float>(); });
}
TEST(Depthwise, SizesOfDoubles) {
  ForEachIsa([] { ExpectSizes<double>(); });
}

TEST(Depthwise, TilesPadsAndDilations) {
  ForEachIsa([] {
    // Planes in tiles of rows, and planes of which several are one.
    ExpectAsReference(Data<float>(2, 3, WindowOf({129, 110}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1})));
    ExpectAsReference(Data<float>(2, 3, WindowOf({67, 90}, {5, 5}, {2, 2}, {1, 1}, {2, 2}, {2, 1})));
    ExpectAsReference(Data<float>(3, 201, WindowOf({7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1})));
    ExpectAsReference(Data<float>(2, 150, WindowOf({2, 2}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1})));
    // Padding of odd and even width, none, all there is, less than none; strides of one axis; dilations.
    ExpectAsReference(Data<float>(1, 5, WindowOf({21, 19}, {3, 4}, {1, 2}, {1, 1}, {0, 1}, {3, 0})));
    ExpectAsReference(Data<float>(1, 5, WindowOf({21, 19}, {3, 4}, {2, 2}, {1, 1}, {2, 3}, {0, 2})));
    ExpectAsReference(Data<float>(1, 5, WindowOf({12, 19}, {3, 3}, {2, 2}, {1, 1}, {-1, -3}, {-2, -1})));
    ExpectAsReference(Data<float>(1, 5, WindowOf({12, 19}, {3, 3}, {1, 1}, {1, 1}, {-1, -3}, {-2, -1})));
    ExpectAsReference(Data<float>(1, 5, WindowOf({33, 21}, {3, 3}, {1, 1}, {12, 6}, {12, 6}, {12, 6})));
    ExpectAsReference(Data<float>(1, 5, WindowOf({14, 21}, {3, 3}, {2, 2}, {2, 3}, {2, 3}, {1, 2})));
    ExpectAsReference(Data<float>(1, 5, WindowOf({9, 40}, {2, 3}, {3, 2}, {2, 4}, {0, 9}, {3, 8})));
    ExpectAsReference(Data<float>(1, 5, WindowOf({9, 8}, {5, 5}, {1, 1}, {1, 1}, {6, 5}, {6, 5})));
    // Strides that nothing strides over, whatever a file says they are.
    const int64_t most = std::numeric_limits<int64_t>::max();
    ExpectAsReference(Data<float>(1, 5, WindowOf({1, 9}, {3, 3}, {most, 1}, {1, 1}, {1, 1}, {1, 1})));
    ExpectAsReference(Data<float>(1, 5, WindowOf({9, 1}, {3, 3}, {1, most}, {1, 1}, {1, 1}, {1, 1})));
    // Windows with places between which inputs are never seen.
    ExpectAsReference(Data<float>(1, 5, WindowOf({6, 9}, {2, 2}, {5, 4}, {1, 1}, {1, 0}, {0, 1})));
  });
}

// Relu, done to the sums, and a function done afterwards: the same to the bit as over the whole.
TEST(Depthwise, Activations) {
  ForEachIsa([] {
    for (const Activation& activation : {Activation{ActivationKind::kRelu, 0, 0}, {ActivationKind::kLeakyRelu, 0.1, 0}})
      for (const std::vector<int64_t>& out : {std::vector<int64_t>{7, 7}, {2, 70}, {80, 90}}) {
        Data<float> data(2, 19, WindowOf(out, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}));
        for (size_t c = 0; c < 19; ++c) data.w[9 * c + 4] = 0;
        std::vector<float> expected = data.Run();
        ApplyActivation(activation, data.Size(), expected.data(), expected.data());
        EXPECT_EQ(data.Run(activation), expected);
      }
    // A NaN stays one.
    Data<float> data(1, 1, WindowOf({4, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}));
    data.x[kGuard] = NAN;
    EXPECT_TRUE(std::isnan(data.Run(Activation{ActivationKind::kRelu, 0, 0})[0]));
  });
}

// What is not a number stays where it is seen: not in a neighbour's vector, row, tile or plane.
TEST(Depthwise, NansStayWhereTheyAreSeen) {
  ForEachIsa([] {
    for (const int64_t stride : {1, 2, 3})
      for (const std::vector<int64_t>& out : {std::vector<int64_t>{3, 5}, {9, 19}, {70, 66}}) {
        const Window window = WindowOf(out, {3, 3}, {stride, stride}, {1, 1}, {1, 1}, {1, 1});
        const int64_t in = window.InSize();
        for (const int64_t at : {int64_t{0}, window.in[1] - 1, in / 2, in - window.in[1], in - 1})
          for (const float value : {NAN, INFINITY}) {
            Data<float> data(1, 3, window);
            data.x[static_cast<size_t>(kGuard + in + at)] = value;
            const std::vector<float> y = data.Run(), expected = data.Expected();
            for (size_t i = 0; i < y.size(); ++i)
              ASSERT_EQ(std::isfinite(y[i]), std::isfinite(expected[i])) << value << " at " << at << ", output " << i;
          }
      }
  });
}

TEST(Depthwise, DoesNotFit) {
  // Three axes, and padding out of all proportion.
  EXPECT_FALSE(
      DepthwiseConv<float>::Fits({{4, 4, 4}, {4, 4, 4}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}}));
  EXPECT_FALSE(DepthwiseConv<float>::Fits(
      WindowOf({2, 2}, {2, 2}, {1, 1}, {1 << 30, 1 << 30}, {1 << 29, 1 << 29}, {1 << 29, 1 << 29})));
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
