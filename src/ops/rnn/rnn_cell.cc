// SPDX-License-Identifier: Apache-2.0
// RNNCell (org.openvinotoolkit 1; OpenVINO RNNCell-0, -3): one step of RNNSequence for a batch of rows, without lengths
// and directions.
// https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/sequence/rnn-cell-3.html
#include "kernels/rnn/rnn.h"
#include "ops/rnn/recurrent_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr RecurrentOperands kOperands{.x = 0,
                                      .w = 2,
                                      .r = 3,
                                      .b = 4,
                                      .lengths = -1,
                                      .h0 = 1,
                                      .c0 = -1,
                                      .p = -1,
                                      .names = {"X", "initial_hidden_state", "W", "R", "B"}};

RecurrentSpec ReadSpec(const NodeAttributes& attrs) {
  constexpr std::string_view kFunctions[] = {"Tanh"};
  return ReadOpenVinoRecurrent(attrs, kOperands, RecurrentLayout::kCell, kernels::Rnn::kGates, kFunctions);
}

OpDef MakeOp() {
  OpDef op = OpenVinoRecurrentOp("RNNCell", RecurrentLayout::kCell, kOperands);
  SetRecurrentFunctions<kernels::Rnn, ReadSpec>(op);
  return op;
}

}  // namespace

std::span<const OpDef> rnn_cell_ops() {
  static const OpDef ops[] = {MakeOp()};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
