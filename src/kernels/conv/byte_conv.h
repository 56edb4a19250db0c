// SPDX-License-Identifier: Apache-2.0
// byte_conv: convolutions of bytes less their zero points, as int32, which wraps. Planes are read as they are stored
// (plane_tiles.h), four bytes that are multiplied together side by side: of four channels or, where there is one, of
// four places along the last axis (gemm/byte_tile.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "base/thread_team.h"
#include "kernels/window/window.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

struct ByteKernel;
struct PlaneTiles;

// The definition, for one output channel: sums[out..] of planes x[in_channels, in..] times w[in_channels, kernel..],
// less their zero points; int8, or uint8 when not signed. Wraps.
void ByteConvReference(int64_t in_channels, const Window& window, const void* x, bool x_signed, int32_t x_zero,
                       const void* w, bool w_signed, int32_t w_zero, int32_t* sums);

class PackedByteConv {
 public:
  // w[groups * out_channels, in_channels, kernel..]: int8, or uint8 when not `is_signed`; channels of one group, all
  // sizes at least 1. `zeros`: of w, one for all, or one for each channel of all groups. Keeps w, which outlives it;
  // copies the rest. For the active instruction set. Throws std::bad_alloc.
  PackedByteConv(int64_t groups, int64_t in_channels, int64_t out_channels, std::span<const int64_t> kernel,
                 const void* w, bool is_signed, std::span<const int32_t> zeros);

  // What becomes of `n` sums of a channel: as many elements at `to`. Called from several threads.
  using Finish = FunctionRef<void(int64_t channel, const int32_t* sums, int64_t n, void* to)>;
  // y[batch, groups * out_channels, out..], of `element` bytes each, from the sums over x[batch, groups * in_channels,
  // in..], int8, or uint8 when not `x_signed`, whose padding is the zero point, plus added, one for each channel, or
  // none for 0. Thread safe; returns early, y unfinished, once the run is to end. Throws std::bad_alloc.
  void Run(int64_t batch, const Window& window, const void* x, bool x_signed, int32_t x_zero,
           std::span<const int32_t> added, Finish finish, int64_t element, void* y, ThreadTeam* team = nullptr,
           int threads = 0) const;

 private:
  struct Job;

  bool by_places() const { return in_channels_ == 1; }
  int32_t Zero(int64_t channel) const { return zeros_[zeros_.size() == 1 ? 0 : static_cast<size_t>(channel)]; }
  int64_t SumsOfGroup() const { return out_channels_ + (has_zeros_ ? 1 : 0); }
  int32_t WeightOf(int64_t channel, int64_t in_channel, int64_t place) const;
  int64_t Seen(const PlaneTiles& tiles, int64_t rows) const;
  void RunTile(const Job& job, int64_t image, int64_t group, int64_t first) const;
  void Arrange(const Job& job, const uint8_t* planes, int64_t first, int64_t rows, uint8_t* copies,
               uint8_t* quads) const;

  int64_t groups_, in_channels_, out_channels_, places_, last_;  // last_: places along the last axis
  const uint8_t* w_;
  uint8_t flip_;                // makes w_ int8
  int32_t shift_;               // how much greater w_ was than what is packed
  std::vector<int32_t> zeros_;  // as given
  bool has_zeros_;              // less the shift they are not all 0: each group sums its input, too
  const ByteKernel* kernel_;
  int64_t quads_;                // of a sum
  std::vector<int8_t> weights_;  // [group][piece of channels][quad][channel][4]
  std::vector<int32_t> totals_;  // [group, channels of it]: of the weights
};

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
