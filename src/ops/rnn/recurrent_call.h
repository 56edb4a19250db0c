// SPDX-License-Identifier: Apache-2.0
// A recurrent node and one run of it, as operators see them that run several nodes together
// (internal/recurrent_group.cc).
#pragma once

#include <memory>
#include <vector>

#include "kernels/recurrent/recurrent.h"
#include "kernels/recurrent/strands.h"
#include "ops/op_def.h"
#include "ops/rnn/recurrent_op.h"
#include "ops/rnn/recurrent_places.h"
#include "ops/run_context.h"

namespace ONNX_LIGHT_NAMESPACE {

// One run whose inputs were checked and whose outputs have their memory. The context it was started with outlives it.
class RecurrentCall {
 public:
  virtual ~RecurrentCall() = default;
  virtual const RecurrentPlaces& places() const = 0;
  virtual kernels::RecurrentCost Cost(int threads) const = 0;
  // All of it, on the threads of the context.
  virtual void Run() = 0;
  // The same as one strand for each direction, to be run while this lives, in place of Run. For float and double alone,
  // weights that are no bytes, and what has rows.
  virtual void AddStrands(std::vector<kernels::Strand>& strands) = 0;
};

// The state of every recurrent operator.
struct RecurrentNode : OpState {
  RecurrentSpec spec;
  // Throws what the operator throws. X is not read before the call runs, where it is of float or double.
  virtual std::unique_ptr<RecurrentCall> Start(RunContext& ctx) const = 0;
};

}  // namespace ONNX_LIGHT_NAMESPACE
