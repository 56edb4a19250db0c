// SPDX-License-Identifier: Apache-2.0
// Where the data of one run of a recurrent operator stand: layouts and packed elements as strides and places.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/recurrent/recurrent.h"
#include "ops/rnn/recurrent_op.h"

namespace ONNX_LIGHT_NAMESPACE {

// Strides in elements, and the shapes of outputs.
struct RecurrentStrides {
  int64_t x_row = 0, x_step = 0, y_row = 0, y_step = 0, y_direction = 0, state_row = 0, state_direction = 0;
  Shape y = {}, state = {};
};

struct RecurrentPlaces : RecurrentStrides {
  int64_t steps = 0, rows = 0;
  std::vector<int32_t> lengths = {};  // of the rows; none when all are `steps`
  // Of packed rows, in place of the strides from row to row.
  std::vector<kernels::RowPlace> of_rows = {};
};

// Checks X, lengths and states against weights of these sizes (InvalidArgument naming the input).
RecurrentPlaces PlaceRecurrent(const RunContext& ctx, const RecurrentSpec& spec, int64_t inputs, int64_t hidden);

}  // namespace ONNX_LIGHT_NAMESPACE
