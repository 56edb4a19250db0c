// SPDX-License-Identifier: Apache-2.0
// conv: convolutions. The input is copied in tiles, channels last and its padding written out, so that each place of
// the window sees rows of numbers next to each other: one product of packed weights for each. Large ones are oneDNN's
// (kernels/dnn/), which works on the same tiles.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/thread_team.h"
#include "kernels/dnn/dnn.h"
#include "kernels/gemm/gemm.h"
#include "kernels/window/window.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// Which kernels compute: what the sizes say, or always ours, or oneDNN's wherever it can (tests).
enum class ConvMethod : uint8_t { kBySize, kOwn, kDnn };

// The definition. x[batch, groups * in_channels, in..], w[groups * out_channels, in_channels, kernel..], bias
// [groups * out_channels] or null, y[batch, groups * out_channels, out..]; sums in double.
template <class T>
void ConvReference(int64_t batch, int64_t groups, int64_t in_channels, int64_t out_channels, const Window& window,
                   const T* x, const T* w, const T* bias, T* y);

// Weights for many convolutions, packed in each way when that is first needed. T: float, double.
template <class T>
class PackedConv {
 public:
  // Shapes as in ConvReference, channels of one group; all at least 1. Keeps w and bias: they outlive it. With
  // `flush_denormals` those of the packed copies become 0.
  PackedConv(int64_t groups, int64_t in_channels, int64_t out_channels, std::span<const int64_t> kernel,
             std::span<const int64_t> dilation, const T* w, const T* bias, bool flush_denormals);

  // y = the convolution of x; returns which kernels computed it. window has that kernel and dilation, batch and all of
  // window.out are at least 1. Thread safe. Each sum is taken in an order that follows from the sizes alone, whatever
  // the number of threads; |error| is at most (k + 2) eps sum |x w| for the k terms of a sum. Works on up to `threads`
  // participants of `team`, on the caller alone when that is null; returns early, y unfinished, once the run is to end.
  // Throws std::bad_alloc.
  ConvMethod Run(int64_t batch, const Window& window, const T* x, T* y, ThreadTeam* team = nullptr, int threads = 0,
                 ConvMethod method = ConvMethod::kBySize) const;

 private:
  struct Tiles;

  void PackOwn() const;
  bool RunDnn(const OnnxseqDnn& dnn, const Tiles& tiles, int64_t images, const T* x, T* y) const;
  void RunOwn(const Tiles& tiles, int64_t images, const T* x, T* y) const;

  int64_t groups_, in_channels_, out_channels_;
  std::vector<int64_t> kernel_;
  int64_t run_;  // places along the window's last axis with nothing between their numbers
  const T* w_;
  const T* bias_;
  bool flush_denormals_;

  mutable std::once_flag own_once_;
  // By group, then by runs of places of the window: [place in the run, in channel] by [out channel].
  mutable std::vector<PackedMatrix<T>> runs_;
  mutable AlignedArray<T> depthwise_;  // [place, group], instead of them where each group is one channel to one
  mutable DnnWeights dnn_weights_;
};

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
