// SPDX-License-Identifier: Apache-2.0
// How a convolution reads the planes of its input as they are stored, one channel after the other. A tile of a plane is
// copied with its padding, and along each axis numbers whose index leaves the same rest by the stride stand together:
// neighbouring outputs then see neighbouring numbers. Each place of the window is one offset, for outputs of all rows
// at once; between the rows there are gaps, outputs that nobody wants. A plane without padding and strides is read
// where it is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/window/window.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

struct PlaneTiles {
  // Tiles of about `most` numbers, or of few rows; with `copies` none is read where it is. Everything follows from the
  // sizes.
  PlaneTiles(const Window& given, int64_t most, bool copies = false);

  Window window;                // one axis where windows are single places next to each other
  bool justified;               // the padding is not out of proportion; if not, only window is there
  bool in_place;                // planes are read where they are
  bool dense;                   // no gaps
  int64_t length, tiles;        // outputs of a tile along the first axis
  std::vector<int64_t> places;  // the offset of each place of the window
  // Their parts, of the last axis and the others: places[i * last + j] = other_offsets[i] + last_offsets[j].
  std::vector<int64_t> last_offsets, other_offsets;
  int64_t furthest, other_furthest;  // the greatest offsets, of places and of other_offsets
  int64_t size;                      // numbers of a tile, copied

  // Outputs along the first axis of the tile that begins with output `first`.
  int64_t Length(int64_t first) const { return std::min(length, window.out[0] - first); }
  // Outputs, gaps between them counted. They see inputs up to `furthest` behind the last one.
  int64_t FlatSize(int64_t rows) const;
  // Where the tile's inputs begin within a plane that is read in place.
  int64_t Begin(int64_t first) const { return first * steps_[0]; }
  // plane[in..] to a tile for `rows` outputs; `fill` for the padding.
  template <class T>
  void CopyIn(const T* plane, int64_t first, int64_t rows, T fill, T* to) const;
  // Flat outputs of `element` bytes to the plane y[out..].
  void CopyOut(const void* from, int64_t first, int64_t rows, int64_t element, void* y) const;

  // Indices [from, until) of a line.
  struct Cut {
    int64_t from, until;
  };

 private:
  // Numbers copied from and to these offsets.
  struct Line {
    int64_t from, to;
    Cut cut;
  };
  void LayLines();

  std::vector<std::vector<int64_t>> rests_;  // by axis: those that places leave
  std::vector<int64_t> shifts_;              // by axis: numbers that the last place is ahead of the first
  std::vector<int64_t> steps_;               // by axis: of outputs
  std::vector<int64_t> rest_steps_;          // by axis: between parts of different rests
  std::vector<int64_t> lines_;               // by axis: numbers along it
  std::vector<Line> copied_;                 // for one index of the first axis, where there are more
  std::vector<int64_t> out_lines_;           // flat outputs where lines of the last axis begin, likewise
  int64_t in_row_ = 1;                       // inputs from one index of the first axis to the next
};

// Windows of single places next to each other over all of the input.
bool IsPoints(const Window& window);
// Such have no axes worth telling apart.
void FlattenPoints(Window& window);

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
