// SPDX-License-Identifier: Apache-2.0
// Tiles of products of bytes: rows of uint8 times panels of int8 columns, summed as int32. Sums of integers are exact,
// so every kernel gives the same bits.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// Bytes of a row or column that stand side by side: what one instruction multiplies and adds up.
inline constexpr int64_t kByteQuad = 4;
// The sum of (a - za) (b - zb) over so many bytes fits an int32 whatever they are, as do the parts it is made of.
inline constexpr int64_t kMostByteSums = int64_t{1} << 15;

// The work of one call.
struct ByteTile {
  const uint8_t* a = nullptr;  // rows of 4 * quads bytes, a_row apart
  int64_t a_row = 0;
  int rows = 0;
  int64_t quads = 0;
  const int8_t* b = nullptr;                // [panel][quad][vector][lane][4], no alignment
  int64_t panel_bytes = 0, quad_bytes = 0;  // how far apart panels are, and the quads of one
  int panels = 0;
  int vectors = 0;          // of a panel: 1 to 4
  int64_t lanes = 0;        // the kernel's; any for the plain one
  bool far = false;         // the panels come from beyond the L2: says how they are read, not what is summed
  int32_t* sums = nullptr;  // [row][panel][vector][lane]
};

// The same the other way round: rows of int8 weights, spread, times vectors of uint8 quads, which stand in planes.
struct BytePlanes {
  const uint8_t* x = nullptr;        // no alignment; quad q of vector v from x + offsets[q] + v * lanes * 4 on
  const int64_t* offsets = nullptr;  // [quads]
  int64_t quads = 0;
  const int8_t* w = nullptr;        // [quad][row][4]
  int rows = 0;                     // at most the kernel's
  const int32_t* starts = nullptr;  // [row], what sums begin with
  int vectors = 0;
  int64_t lanes = 0;        // the kernel's; any for the plain one
  int32_t* sums = nullptr;  // rows of [vector][lane], sums_row apart
  int64_t sums_row = 0;
};

struct ByteKernel {
  std::string_view name;
  int64_t lanes;  // of its vectors of int32; 0 = any
  int64_t rows;   // of planes at once
  void (*multiply)(const ByteTile&);
  void (*multiply_planes)(const BytePlanes&);
};

// Those this CPU can run, best first, the plain loops last. Thread safe.
std::span<const ByteKernel> ByteKernels();
// The best for vectors of `lanes`.
const ByteKernel& ByteKernelFor(int64_t lanes);
// The best for the vectors of the active instruction set.
const ByteKernel& ActiveByteKernel();

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
