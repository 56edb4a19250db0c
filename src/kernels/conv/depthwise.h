// SPDX-License-Identifier: Apache-2.0
// depthwise: convolutions of images of which each group is one channel in and one out. As many channels as a vector has
// lanes are turned last, so that a vector is one place of each of them and weights are vectors too: nothing is spread,
// strides and dilations cost nothing, and padding is not written out, its terms being left out.
#pragma once

#include <cstdint>
#include <optional>

#include "base/thread_team.h"
#include "kernels/activation/activation.h"
#include "kernels/aligned_array.h"
#include "kernels/window/window.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// One axis of a window. Output o sees inputs o * stride - begin + k * dilation, k < kernel, that lie in [0, in).
struct DepthwiseAxis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, begin = 0;

  // The places of output o that see an input: [first, until).
  int64_t FirstPlace(int64_t o) const;
  int64_t UntilPlace(int64_t o) const;
};

// The work of one call: rows [first, first + rows) of outputs of one block of channels, all lanes of a vector wide.
// x, w and y are aligned to a vector, and so is bias.
template <class T>
struct DepthwiseBlock {
  DepthwiseAxis height, width;
  const T* x = nullptr;  // rows of inputs from x_first on, [row][column][lane]
  int64_t x_first = 0;
  const T* w = nullptr;     // [place][lane]
  const T* bias = nullptr;  // [lane]
  int64_t first = 0, rows = 0;
  T* y = nullptr;  // [row][column][lane]
};

// What one instruction set offers. Each sum is one chain of multiply-adds, the bias and then the places in their order.
struct DepthwiseVariant {
  int64_t f32_lanes, f64_lanes;
  void (*f32)(const DepthwiseBlock<float>&);
  void (*f64)(const DepthwiseBlock<double>&);
};
const DepthwiseVariant& ActiveDepthwiseVariant() noexcept;

// T: float, double.
template <class T>
class DepthwiseConv {
 public:
  // Images whose channels fill vectors.
  static bool Fits(int64_t channels, const Window& window);

  DepthwiseConv() = default;
  // w[channels, places], bias [channels] or null. With `flush_denormals` those of the copies become 0. Throws
  // std::bad_alloc.
  DepthwiseConv(int64_t channels, int64_t places, const T* w, const T* bias, bool flush_denormals);

  // y[batch, channels, out..] = the convolution of x[batch, channels, in..], then the activation. Two axes. Thread
  // safe; returns early, y unfinished, once the run is to end. Throws std::bad_alloc.
  void Run(int64_t batch, const Window& window, const std::optional<Activation>& activation, const T* x, T* y,
           ThreadTeam* team, int threads) const;

 private:
  int64_t channels_ = 0, places_ = 0, lanes_ = 0;
  const DepthwiseVariant* variant_ = nullptr;
  AlignedArray<T> weights_;  // [block][place][lane], then [block][lane] of the bias
};

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
