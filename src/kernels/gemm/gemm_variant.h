// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/gemm/gemm.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// Rows of A times panels of B; the work one call of a variant does.
template <class T>
struct GemmBlock {
  // n counts the columns of C from the first panel on; the last panel may be partly beyond it.
  int64_t m = 0, n = 0, k = 0;
  const T* a = nullptr;  // rows of k consecutive numbers
  int64_t a_row = 0;
  // Where they are instead, if not null: rows of `segment_count` times k consecutive numbers, those of segment s of row
  // i at a + rows[i] + segments[s].
  const int64_t* rows = nullptr;
  const int64_t* segments = nullptr;
  int64_t segment_count = 1;
  const T* b = nullptr;  // readable for whole panels, whatever n
  int64_t panel_stride = 0, step = 0;
  const T* bias = nullptr;  // [n], null = 0; not read when accumulate
  bool accumulate = false;
  RowFinish<T> finish;
  T* c = nullptr;
  int64_t c_row = 0;
};

// What one instruction set offers.
struct GemmVariant {
  int64_t f32_lanes;
  int64_t f64_lanes;
  void (*f32)(const GemmBlock<float>&);
  void (*f64)(const GemmBlock<double>&);
};

// The one of the active instruction set.
const GemmVariant& ActiveGemmVariant() noexcept;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
