// SPDX-License-Identifier: Apache-2.0
// LSTMCell (org.openvinotoolkit 1; OpenVINO LSTMCell-1 and -4): one step of LSTMSequence for a batch of rows, without
// lengths and directions. Gates f, i, c, o.
// https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/sequence/lstm-cell-1.html
//
// LSTMCell-1 may carry weights_format, input_forget (i = 1 - f) and peepholes P [3H] in the order f, i, o.
#include "kernels/lstm/lstm.h"
#include "ops/rnn/recurrent_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr RecurrentOperands kOperands{.x = 0,
                                      .w = 3,
                                      .r = 4,
                                      .b = 5,
                                      .lengths = -1,
                                      .h0 = 1,
                                      .c0 = 2,
                                      .p = 6,
                                      .names = {"X", "initial_hidden_state", "initial_cell_state", "W", "R", "B", "P"}};

RecurrentSpec ReadSpec(const NodeAttributes& attrs) {
  constexpr std::string_view kFunctions[] = {"Sigmoid", "Tanh", "Tanh"};
  RecurrentSpec spec =
      ReadOpenVinoRecurrent(attrs, kOperands, RecurrentLayout::kCell, kernels::Lstm::kGates, kFunctions);
  ReadLegacyLstmAttributes(attrs, spec);
  return spec;
}

OpDef MakeOp() {
  OpDef op = OpenVinoRecurrentOp("LSTMCell", RecurrentLayout::kCell, kOperands);
  op.attributes.push_back({"weights_format", AttrKind::kString});
  op.attributes.push_back({"input_forget", AttrKind::kInt});
  SetRecurrentFunctions<kernels::Lstm, ReadSpec>(op);
  return op;
}

}  // namespace

std::span<const OpDef> lstm_cell_ops() {
  static const OpDef ops[] = {MakeOp()};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
