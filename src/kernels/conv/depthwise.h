// SPDX-License-Identifier: Apache-2.0
// depthwise: convolutions of images of which each group is one channel in and one out. Some rows of a plane at a time
// are copied with their padding, columns of one remainder of the stride next to each other; then vectors are
// neighbouring outputs of a row, and several rows are computed at once, so that what they see is loaded once.
#pragma once

#include <cstdint>
#include <optional>

#include "base/thread_team.h"
#include "kernels/activation/activation.h"
#include "kernels/aligned_array.h"
#include "kernels/window/window.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// How the rows that one plane's tile sees are copied. Row j is input row first + j, zeros where there is none. Its
// position p is the input x[p + skip - at], p >= at, zeros before and after `count` of them.
struct DepthwiseRows {
  int64_t first = 0, rows = 0, in_rows = 0, in_columns = 0;
  int64_t at = 0, skip = 0, count = 0;
  int64_t stride = 1, dilation = 1, kernel = 1;  // along the row
  // Stride 1: one part. 2: two, the even positions and the odd ones. Others: one for each place of the window, what the
  // outputs see there. Parts of a row are `part` numbers apart, rows `row`, planes `plane`.
  int64_t part = 0, row = 0, plane = 0;
  bool whole = false;  // all planes begin with the same row: rows that are not there stay zeros
};

// The work of one call: the same rows of neighbouring planes. No alignment. `padded` is zeros where no earlier call
// with the same sizes has copied rows to, and has a vector more than it needs. Nothing outside the rows of y is
// touched.
template <class T>
struct DepthwiseBlock {
  int64_t planes = 0;
  const T* x = nullptr;  // whole planes
  DepthwiseRows in;
  T* padded = nullptr;
  const int64_t* offsets = nullptr;  // within a row, of the places of the window along it
  int64_t kernel_rows = 0, kernel_columns = 0, row_stride = 1, row_dilation = 1;
  const T* w = nullptr;     // [plane][column of the window][row of it]
  const T* bias = nullptr;  // [plane]
  bool relu = false;        // done to the sums
  T* y = nullptr;           // [plane][row][column], y_plane numbers from plane to plane
  int64_t y_plane = 0, rows = 0, columns = 0;
};

// What one instruction set offers. Each sum is one chain of multiply-adds, the bias and then the places of the window
// column by column.
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
  // Images, a few rows of which are no more than what is kept in memory anyway.
  static bool Fits(const Window& window);

  DepthwiseConv() = default;
  // w[channels, places], bias [channels] or null; the window is [kernel_rows, kernel_columns] places. With
  // `flush_denormals` those of the copies become 0. Throws std::bad_alloc.
  DepthwiseConv(int64_t channels, int64_t kernel_rows, int64_t kernel_columns, const T* w, const T* bias,
                bool flush_denormals);

  // y[batch, channels, out..] = the convolution of x[batch, channels, in..], then the activation. `Fits(window)`.
  // Thread safe; returns early, y unfinished, once the run is to end. Throws std::bad_alloc.
  void Run(int64_t batch, const Window& window, const std::optional<Activation>& activation, const T* x, T* y,
           ThreadTeam* team, int threads) const;

 private:
  int64_t channels_ = 0, places_ = 0;
  const DepthwiseVariant* variant_ = nullptr;
  AlignedArray<T> weights_;  // [channel][column of the window][row of it], then [channel] of the bias
};

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
