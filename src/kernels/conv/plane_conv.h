// SPDX-License-Identifier: Apache-2.0
// plane_conv: convolutions of few channels, and depthwise ones of other than images (those: depthwise.h). Planes are
// read as they are stored (plane_tiles.h): vectors are neighbouring outputs, weights are spread.
#pragma once

#include <cstdint>
#include <optional>

#include "base/thread_team.h"
#include "kernels/activation/activation.h"
#include "kernels/aligned_array.h"
#include "kernels/conv/plane_tiles.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// The work of one call: rows of outputs y, y_row apart, each of n numbers: bias plus, for each term t, weight w[t][row]
// times the numbers from x + offsets[t] on. At most `rows` of the variant. No alignment; nothing beyond n is touched.
template <class T>
struct PlaneBlock {
  const T* x = nullptr;
  const int64_t* offsets = nullptr;
  int64_t terms = 0;
  const T* w = nullptr;
  int64_t rows = 0;
  const T* bias = nullptr;  // null = 0
  T* y = nullptr;
  int64_t y_row = 0;
  int64_t n = 0;
};

// What one instruction set offers. Each sum is one chain of multiply-adds in the order of the terms.
struct PlaneVariant {
  int64_t rows;
  void (*f32)(const PlaneBlock<float>&);
  void (*f64)(const PlaneBlock<double>&);
};
const PlaneVariant& ActivePlaneVariant() noexcept;

// T: float, double.
template <class T>
class PlaneConv {
 public:
  PlaneConv() = default;
  // w[groups * out_channels, in_channels, places], channels of one group. With `flush_denormals` those of the copies
  // become 0. Throws std::bad_alloc.
  PlaneConv(int64_t groups, int64_t in_channels, int64_t out_channels, int64_t places, const T* w,
            bool flush_denormals);

  // y[batch, groups * out_channels, out..] = the convolution of x[batch, groups * in_channels, in..] plus bias (null =
  // 0), then the activation. `tiles.justified`. Thread safe; returns early, y unfinished, once the run is to end.
  // Throws std::bad_alloc.
  void Run(int64_t batch, const PlaneTiles& tiles, const T* bias, const std::optional<Activation>& activation,
           const T* x, T* y, ThreadTeam* team, int threads) const;

 private:
  int64_t groups_ = 0, in_channels_ = 0, out_channels_ = 0, places_ = 0;
  const PlaneVariant* variant_ = nullptr;
  AlignedArray<T> weights_;  // [group][piece of channels][in channel, place][channel]
};

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
