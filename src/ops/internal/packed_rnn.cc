// SPDX-License-Identifier: Apache-2.0
// PackedRNN (onnxseq.internal 1): RNN of each element of a packed value, ragged along time. RecurrentLayout::kPacked
// says how its inputs and outputs look. An element without steps keeps its initial states, as ONNX's RNN does with T =
// 0.
#include "kernels/rnn/rnn.h"
#include "ops/rnn/recurrent_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr RecurrentOperands kOperands = OnnxOperands(false, "lengths");

RecurrentSpec ReadSpec(const NodeAttributes& attrs) { return PackedSpec(ReadRnnSpec(attrs), kOperands); }

OpDef Definition() {
  OpDef op = PackedRecurrentOp("PackedRNN", kOperands);
  SetRecurrentFunctions<kernels::Rnn, ReadSpec>(op);
  return op;
}

}  // namespace

std::span<const OpDef> packed_rnn_ops() {
  static const OpDef op = Definition();
  return {&op, 1};
}

}  // namespace ONNX_LIGHT_NAMESPACE
