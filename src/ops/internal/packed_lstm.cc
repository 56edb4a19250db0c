// SPDX-License-Identifier: Apache-2.0
// PackedLSTM (onnxseq.internal 1): LSTM of each element of a packed value, ragged along time. RecurrentLayout::kPacked
// says how its inputs and outputs look. An element without steps keeps its initial states, as ONNX's LSTM does with T =
// 0.
#include "kernels/lstm/lstm.h"
#include "ops/rnn/recurrent_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr RecurrentOperands kOperands = OnnxOperands(true, "lengths");

RecurrentSpec ReadSpec(const NodeAttributes& attrs) { return PackedSpec(ReadLstmSpec(attrs), kOperands); }

OpDef Definition() {
  OpDef op = PackedRecurrentOp("PackedLSTM", kOperands);
  op.attributes.push_back({"input_forget", AttrKind::kInt});
  SetRecurrentFunctions<kernels::Lstm, ReadSpec>(op);
  return op;
}

}  // namespace

std::span<const OpDef> packed_lstm_ops() {
  static const OpDef op = Definition();
  return {&op, 1};
}

}  // namespace ONNX_LIGHT_NAMESPACE
