// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "kernels/recurrent/recurrent.h"
#include "kernels/recurrent/step_barrier.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// Some rows of one direction, made ready: rows sorted by falling length, so that step s works on the first few of them.
template <class Kind, class T>
struct RecurrentPart {
  const typename Kind::template Packed<T>* weights = nullptr;
  const RecurrentSequence<T>* io = nullptr;
  int64_t rows = 0;
  int64_t z_rows = 0;                // rows of z
  const int32_t* order = nullptr;    // [rows], the row of io that stands here
  const int32_t* lengths = nullptr;  // [rows], falling
  T* h = nullptr;                    // [2][rows][groups * lanes]: step s reads half s & 1 and writes the other
  std::array<T*, 2> extra{};  // the kind's own, rows * groups * lanes each; a state c is extra[0], [group][rows][lanes]
  T* z = nullptr;             // [group][z_rows][kGates * lanes]: sums of the steps at hand
};

// A row of floats as bytes: value = (byte - zero) * scale. scale is NaN when a value was not finite.
struct RowCode {
  float scale = 1;
  int32_t zero = 0;
  int32_t total = 0;  // of (byte - zero)
};

// One thread's share of a part: groups [group_begin, group_end) of hidden units. With width > 1, as many threads run at
// the same time and meet in `barrier` after every step.
template <class T>
struct RecurrentShare {
  int64_t group_begin = 0, group_end = 0;
  // This thread's own, for the rows of one product.
  const T** rows = nullptr;      // [z_rows]
  uint8_t* codes = nullptr;      // [z_rows][inputs or units, filled up to quads], with kInt8
  RowCode* row_codes = nullptr;  // [z_rows], with kInt8
  StepBarrier* barrier = nullptr;
  int width = 1;
  // Steps [begin, end) only; those before were done, on the same memory. Initial states belong to the first step, final
  // ones to the last.
  int64_t begin = 0, end = std::numeric_limits<int64_t>::max();
};

// What one instruction set offers.
template <class Kind>
struct RecurrentVariant {
  int64_t f32_lanes;
  int64_t f64_lanes;
  void (*f32)(const RecurrentPart<Kind, float>&, const RecurrentShare<float>&);
  // The same for weights that are not stored in full.
  void (*f32_narrow)(const RecurrentPart<Kind, float>&, const RecurrentShare<float>&);
  void (*f64)(const RecurrentPart<Kind, double>&, const RecurrentShare<double>&);
};

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
