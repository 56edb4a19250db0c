// SPDX-License-Identifier: Apache-2.0
// conv: convolutions. The input is copied in tiles, channels last and its padding written out, so that each place of
// the window sees rows of numbers next to each other: products of packed weights, with a third fewer of them where the
// window has three places along the last axis (winograd.h). Large ones of other windows are oneDNN's (kernels/dnn/),
// which works on the same tiles. Groups of few channels are computed plane by plane (plane_conv.h), those of one, of
// images, some at a time (depthwise.h). What follows a convolution may be done to a tile before it leaves the cache.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/thread_team.h"
#include "kernels/activation/activation.h"
#include "kernels/aligned_array.h"
#include "kernels/conv/depthwise.h"
#include "kernels/conv/plane_conv.h"
#include "kernels/conv/winograd.h"
#include "kernels/dnn/dnn.h"
#include "kernels/gemm/gemm.h"
#include "kernels/window/window.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// Which kernels compute: what the sizes say, or always our plain products or planes, or depthwise, Winograd's or
// oneDNN's wherever they can (tests).
enum class ConvMethod : uint8_t { kBySize, kOwn, kPlanes, kDepthwise, kWinograd, kDnn };

struct ConvSizes {
  int64_t groups = 1;
  int64_t in_channels = 0, out_channels = 0;  // of one group
};

// Windows over the outputs whose greatest are kept, a NaN if there is one; no padding, no dilation: along axis d each
// of (out[d] - kernel[d]) / stride[d] + 1. kernel[0] <= stride[0], kernel[d] <= out[d]. Without entries no pool.
struct ConvPool {
  std::vector<int64_t> kernel, stride;
};

// What becomes of the outputs, in this order.
struct ConvEpilogue {
  std::optional<Activation> activation;
  ConvPool pool;
};

// The definition. x[batch, groups * in_channels, in..], w[groups * out_channels, in_channels, kernel..], bias
// [groups * out_channels] or null, y[batch, groups * out_channels, out..]; sums in double.
template <class T>
void ConvReference(int64_t batch, int64_t groups, int64_t in_channels, int64_t out_channels, const Window& window,
                   const T* x, const T* w, const T* bias, T* y);

// Weights for many convolutions, packed in each way when that is first needed. T: float, double.
template <class T>
class PackedConv {
 public:
  // Shapes as in ConvReference, all sizes at least 1. Keeps w and bias: they outlive it. With `flush_denormals` those
  // of the packed copies become 0. Reads neither before the first run.
  PackedConv(const ConvSizes& sizes, std::span<const int64_t> kernel, std::span<const int64_t> dilation, const T* w,
             const T* bias, bool flush_denormals);

  // y = the convolution of x, after it the epilogue; returns which kernels computed it. window has that kernel and
  // dilation, batch and all of window.out are at least 1. Thread safe. Each sum is taken in an order that follows from
  // the sizes alone, whatever the number of threads; |error| of the convolution is at most (k + 2) eps sum |x w| for
  // the k terms of a sum, or what winograd.h says. Works on up to `threads` participants of `team`, on the caller alone
  // when that is null; returns early, y unfinished, once the run is to end. Throws std::bad_alloc.
  ConvMethod Run(int64_t batch, const Window& window, const ConvEpilogue& epilogue, const T* x, T* y,
                 ThreadTeam* team = nullptr, int threads = 0, ConvMethod method = ConvMethod::kBySize) const;

 private:
  struct Plan;

  void PackOwn() const;
  ConvMethod Choose(const Plan& plan, ConvMethod wish) const;
  bool RunDnn(const OnnxseqDnn& dnn, const Plan& plan, int64_t images, const T* x, T* y) const;
  void RunOwn(const Plan& plan, const T* x, T* y) const;
  ConvMethod RunWhole(int64_t batch, const Window& window, const ConvEpilogue& epilogue, const T* x, T* y,
                      ThreadTeam* team, int threads, ConvMethod wish) const;

  ConvSizes sizes_;
  std::vector<int64_t> kernel_;
  int64_t run_;  // places along the window's last axis with nothing between their numbers
  const T* w_;
  const T* bias_;
  bool flush_denormals_;

  mutable std::once_flag own_once_, winograd_once_, planes_once_, depthwise_once_;
  mutable std::vector<PackedMatrix<T>> groups_;  // of each: [place, in channel] by [out channel]
  mutable WinogradConv<T> winograd_;
  mutable PlaneConv<T> planes_;
  mutable DepthwiseConv<T> depthwise_;
  mutable DnnWeights dnn_weights_;
};

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
