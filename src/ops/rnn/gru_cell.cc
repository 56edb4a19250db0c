// SPDX-License-Identifier: Apache-2.0
// GRUCell (org.openvinotoolkit 1; OpenVINO GRUCell-3): one step of GRUSequence for a batch of rows, without lengths and
// directions. B is [3H], with linear_before_reset [4H].
// https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/sequence/gru-cell-3.html
#include "kernels/gru/gru.h"
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
  constexpr std::string_view kFunctions[] = {"Sigmoid", "Tanh"};
  return ReadOpenVinoRecurrent(attrs, kOperands, RecurrentLayout::kCell, kernels::Gru::kGates, kFunctions);
}

OpDef MakeOp() {
  OpDef op = OpenVinoRecurrentOp("GRUCell", RecurrentLayout::kCell, kOperands);
  op.attributes.push_back({"linear_before_reset", AttrKind::kInt});
  SetRecurrentFunctions<kernels::Gru, ReadSpec>(op);
  return op;
}

}  // namespace

std::span<const OpDef> gru_cell_ops() {
  static const OpDef ops[] = {MakeOp()};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
