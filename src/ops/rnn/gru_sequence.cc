// SPDX-License-Identifier: Apache-2.0
// GRUSequence (org.openvinotoolkit 1; OpenVINO GRUSequence-5): GRU with the batch first, states and lengths given,
// gates z, r, h. B [D,3H] sums both biases; with linear_before_reset it is [D,4H]: z and r summed, Wb of h, Rb of h.
// https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/sequence/gru-sequence-5.html
//
// Lengths must lie in [0, T]; the rest is as GRU does it.
#include "kernels/gru/gru.h"
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

RecurrentSpec ReadGruSequenceSpec(const NodeAttributes& attrs) {
  constexpr std::string_view kFunctions[] = {"Sigmoid", "Tanh"};
  return ReadOpenVinoRecurrent(attrs, kOperands, RecurrentLayout::kOpenVino, kernels::Gru::kGates, kFunctions);
}

namespace {

OpDef MakeOp() {
  OpDef op = OpenVinoRecurrentOp("GRUSequence", RecurrentLayout::kOpenVino, kOperands);
  op.attributes.push_back({"linear_before_reset", AttrKind::kInt});
  SetRecurrentFunctions<kernels::Gru, ReadGruSequenceSpec>(op);
  return op;
}

}  // namespace

std::span<const OpDef> gru_sequence_ops() {
  static const OpDef ops[] = {MakeOp()};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
