// SPDX-License-Identifier: Apache-2.0
// winograd: convolutions of three places along the last axis, two outputs at a time with four products where six would
// be (Winograd's F(2, 3)): with inputs d0..d3 and weights g0..g2,
//   m0 = (d0 - d2) g0, m1 = (d1 + d2) (g0 + g1 + g2) / 2, m2 = (d2 - d1) (g0 - g1 + g2) / 2, m3 = (d1 - d3) g2,
//   y0 = m0 + m1 + m2, y1 = m1 - m2 - m3.
// Sums of m over channels and the places of the other axes come before y: they are matrix products.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/gemm/gemm.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// T: float, double.
template <class T>
class WinogradConv {
 public:
  WinogradConv() = default;
  // w[out_channels, in_channels, places, 3]. With `flush_denormals` those of the packed copies become 0. Throws
  // std::bad_alloc.
  WinogradConv(int64_t in_channels, int64_t out_channels, int64_t places, const T* w, bool flush_denormals);

  // Lines of numbers along the last axis, channels last: x[lines, columns + 2, in_channels]; output line i sees lines
  // outputs[i] + places[k] of it.
  struct Lines {
    int64_t lines = 0, columns = 0;
    std::span<const int64_t> outputs, places;
  };
  // Numbers of `scratch` that Run needs.
  int64_t ScratchSize(const Lines& lines) const;
  // y[outputs, columns, out_channels], plus bias [out_channels] unless that is null. y[.., j, ..] depends on x[.., j to
  // j + 2, ..] alone; |error| is at most (k + 6) eps times 4 times the sum over the k pairs of channel and place of
  // the largest |x| and the sum of |w| of the three. A sum or difference of inputs that is not finite makes a NaN of an
  // output. Returns early once the run is to end. Thread safe.
  void Run(const Lines& lines, const T* x, const T* bias, T* y, T* scratch) const;

 private:
  int64_t PairsHeld() const;

  int64_t in_channels_ = 0, out_channels_ = 0;
  std::vector<PackedMatrix<T>> points_;  // [place, in channel] by [out channel], of each m
};

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
