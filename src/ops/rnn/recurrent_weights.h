// SPDX-License-Identifier: Apache-2.0
// The weights of a recurrent node: found among its inputs, checked against each other, packed.
#pragma once

#include <cstdint>
#include <vector>

#include "base/function_ref.h"
#include "kernels/recurrent/recurrent.h"
#include "ops/rnn/recurrent_op.h"

namespace ONNX_LIGHT_NAMESPACE {

// b and p may be null.
struct NodeWeights {
  GateWeight w, r;
  const Tensor* b;
  const Tensor* p;
};
struct WeightSizes {
  int64_t inputs;
  int64_t hidden;
};

// From the tensors of all inputs, null for one that is absent or not known: its weight is undefined, or null, then.
NodeWeights ReadWeights(const RecurrentSpec& spec, FunctionRef<const Tensor*(int)> input);

// Checks the shapes of all weights against each other, the direction and hidden_size (InvalidArgument naming the
// input).
WeightSizes CheckWeights(const NodeProto& node, const RecurrentSpec& spec, const NodeWeights& weights);
// Refuses sums that the integers of kernels for bytes could not hold.
void CheckByteSums(const NodeProto& node, const RecurrentSpec& spec, const WeightSizes& sizes);

// Of each direction. Kind: kernels::Lstm, Gru or Rnn; T: what is computed in, float or double.
template <class Kind, class T>
std::vector<kernels::PackedRecurrent<Kind, T>> PackWeights(const RecurrentSpec& spec, const NodeWeights& weights,
                                                           const WeightSizes& sizes, WeightStorage storage,
                                                           bool flush_denormals);

}  // namespace ONNX_LIGHT_NAMESPACE
