// SPDX-License-Identifier: Apache-2.0
// How the work of a convolution is cut, and its input and output copied. For conv.cc alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/conv/conv.h"
#include "kernels/window/window.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// Offsets of all index tuples below `dims` in row-major order, a step along axis d counting steps[d].
std::vector<int64_t> Offsets(std::span<const int64_t> dims, std::span<const int64_t> steps);

// Tiles of `length` outputs along the first axis, whole along the others; or several images where one tile holds all of
// one. Everything follows from the sizes.
struct ConvTiles {
  // As PackedConv::Run; pool as ConvEpilogue has it.
  ConvTiles(const ConvSizes& sizes, int64_t batch, const Window& given, const ConvPool& pool);

  Window window;
  int64_t in_channels, out_channels;  // of all groups
  int64_t length, tiles, images;
  std::vector<int64_t> padded;      // dims of a tile's input, padding included
  std::vector<int64_t> outputs;     // dims of its output
  std::vector<int64_t> pooled;      // of what the pool makes of it; of outputs without one
  std::vector<int64_t> all_pooled;  // of all tiles together
  int64_t padded_size, output_size, pooled_size;
  bool justified;  // the padding is not out of proportion; if not, only window, work and all_pooled are there
  double work;     // multiply-adds of all

  // Strides of a tile's input and output, channels last.
  std::vector<int64_t> PaddedSteps() const;
  std::vector<int64_t> OutputSteps() const;

  // The input of outputs from `first` on of one image: x[in_channels, in..] to [padded.., in_channels].
  template <class T>
  void CopyIn(const T* x, int64_t first, T* to) const;
  // [pooled.., out_channels] to y[out_channels, all_pooled..] from output `first` of the first axis on, as far as y
  // goes.
  template <class T>
  void CopyOut(const T* from, int64_t first, T* y) const;

 private:
  int64_t pool_stride_ = 1;  // along the first axis
};

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
