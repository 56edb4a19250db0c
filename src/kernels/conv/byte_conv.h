// SPDX-License-Identifier: Apache-2.0
// byte_conv: convolutions of bytes less their zero points, as int32, which wraps. Places are copied together, channels
// last, and multiplied as matrices of bytes (gemm/byte_product.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "base/thread_team.h"
#include "kernels/gemm/byte_product.h"
#include "kernels/window/window.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

class PackedByteConv {
 public:
  // w[groups * out_channels, in_channels, places]: int8, or uint8 when not `is_signed`; channels of one group, all
  // sizes at least 1. `zeros`: of w, one for all, or one for each channel of all groups. Copies both. Throws
  // std::bad_alloc.
  PackedByteConv(int64_t groups, int64_t in_channels, int64_t out_channels, int64_t places, const void* w,
                 bool is_signed, std::span<const int32_t> zeros);

  // Sums [places, channels] of outputs [first, first + places) of an image and channels [channel, channel + channels).
  struct Sums {
    int64_t image, first, places, channel, channels;
    const int32_t* sums;
  };
  // Of x[batch, groups * in_channels, in..], int8, or uint8 when not `x_signed`; its padding is the zero point. Calls
  // done for pieces that are all of it, from several threads. Thread safe; returns early, pieces missing, once the run
  // is to end. Throws std::bad_alloc.
  void Run(int64_t batch, const Window& window, const void* x, bool x_signed, int32_t x_zero,
           FunctionRef<void(const Sums&)> done, ThreadTeam* team = nullptr, int threads = 0) const;

 private:
  bool depthwise() const { return in_channels_ == 1 && out_channels_ == 1; }

  int64_t groups_, in_channels_, out_channels_, places_;
  std::vector<int32_t> zeros_;
  std::vector<PackedBytes> weights_;  // by group: [place, in channel] by [out channel]
  std::vector<int32_t> depthwise_;    // [place, group], less the zeros, instead of them
};

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
