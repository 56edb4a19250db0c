// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/lstm/lstm.h"
#include "kernels/lstm/step_barrier.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// Some rows of one direction, made ready: rows sorted by falling length, so that step s works on the first few of them.
template <class T>
struct LstmPart {
  const typename PackedLstm<T>::Data* weights = nullptr;
  const LstmSequence<T>* io = nullptr;
  int64_t rows = 0;
  int64_t z_rows = 0;                // rows of z
  const int32_t* order = nullptr;    // [rows], the row of io that stands here
  const int32_t* lengths = nullptr;  // [rows], falling
  T* h = nullptr;                    // [2][rows][groups * lanes]: step s reads half s & 1 and writes the other
  T* c = nullptr;                    // [group][rows][lanes]
  T* z = nullptr;                    // [group][z_rows][4 * lanes]: pre-activations of the steps at hand
};

// One thread's share of a part: groups [group_begin, group_end) of hidden units. With width > 1, as many threads run at
// the same time and meet in `barrier` after every step.
template <class T>
struct LstmShare {
  int64_t group_begin = 0, group_end = 0;
  const T** x_rows = nullptr;  // [z_rows], this thread's own
  StepBarrier* barrier = nullptr;
  int width = 1;
};

// What one instruction set offers.
struct LstmVariant {
  int64_t f32_lanes;
  int64_t f64_lanes;
  void (*f32)(const LstmPart<float>&, const LstmShare<float>&);
  void (*f64)(const LstmPart<double>&, const LstmShare<double>&);
};

// The one of the active instruction set.
const LstmVariant& ActiveLstmVariant() noexcept;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
