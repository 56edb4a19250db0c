// SPDX-License-Identifier: Apache-2.0
// LSTMSequence (org.openvinotoolkit 1; OpenVINO LSTMSequence-1 and -5): LSTM with the batch first, all states and
// lengths given, one summed bias, gates f, i, c, o.
// https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/sequence/lstm-sequence-5.html
//
// Files of the time before opset5 may carry weights_format (another order of gates), input_forget (here i = 1 - f) and
// peepholes P in the order f, i, o. Lengths must lie in [0, T]; the rest is as LSTM does it.
#include "kernels/lstm/lstm.h"
#include "ops/rnn/recurrent_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr RecurrentOperands kOperands{
    .x = 0,
    .w = 4,
    .r = 5,
    .b = 6,
    .lengths = 3,
    .h0 = 1,
    .c0 = 2,
    .p = 7,
    .names = {"X", "initial_hidden_state", "initial_cell_state", "sequence_lengths", "W", "R", "B", "P"}};

}  // namespace

RecurrentSpec ReadLstmSequenceSpec(const NodeAttributes& attrs) {
  constexpr std::string_view kFunctions[] = {"Sigmoid", "Tanh", "Tanh"};
  RecurrentSpec spec =
      ReadOpenVinoRecurrent(attrs, kOperands, RecurrentLayout::kOpenVino, kernels::Lstm::kGates, kFunctions);
  ReadLegacyLstmAttributes(attrs, spec);
  return spec;
}

namespace {

OpDef MakeOp() {
  OpDef op = OpenVinoRecurrentOp("LSTMSequence", RecurrentLayout::kOpenVino, kOperands);
  op.attributes.push_back({"weights_format", AttrKind::kString});
  op.attributes.push_back({"input_forget", AttrKind::kInt});
  SetRecurrentFunctions<kernels::Lstm, ReadLstmSequenceSpec>(op);
  return op;
}

}  // namespace

std::span<const OpDef> lstm_sequence_ops() {
  static const OpDef ops[] = {MakeOp()};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
