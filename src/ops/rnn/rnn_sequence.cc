// SPDX-License-Identifier: Apache-2.0
// RNNSequence (org.openvinotoolkit 1; OpenVINO RNNSequence-5): RNN with the batch first, states and lengths given, one
// summed bias.
// https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/sequence/rnn-sequence-5.html
//
// Lengths must lie in [0, T]; the rest is as RNN does it.
#include "kernels/rnn/rnn.h"
#include "ops/rnn/recurrent_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr RecurrentOperands kOperands{.x = 0,
                                      .w = 3,
                                      .r = 4,
                                      .b = 5,
                                      .lengths = 2,
                                      .h0 = 1,
                                      .c0 = -1,
                                      .p = -1,
                                      .names = {"X", "initial_hidden_state", "sequence_lengths", "W", "R", "B"}};

}  // namespace

RecurrentSpec ReadRnnSequenceSpec(const NodeAttributes& attrs) {
  constexpr std::string_view kFunctions[] = {"Tanh"};
  return ReadOpenVinoRecurrent(attrs, kOperands, RecurrentLayout::kOpenVino, kernels::Rnn::kGates, kFunctions);
}

namespace {

OpDef MakeOp() {
  OpDef op = OpenVinoRecurrentOp("RNNSequence", RecurrentLayout::kOpenVino, kOperands);
  SetRecurrentFunctions<kernels::Rnn, ReadRnnSequenceSpec>(op);
  return op;
}

}  // namespace

std::span<const OpDef> rnn_sequence_ops() {
  static const OpDef ops[] = {MakeOp()};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
