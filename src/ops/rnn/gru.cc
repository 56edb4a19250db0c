// SPDX-License-Identifier: Apache-2.0
// GRU (ai.onnx 1, 3, 7, 14, 22): one layer, one or two directions, over a batch of sequences. Gates z, r, h. With
// linear_before_reset (since 3) the reset gate scales h R^T + Rb of the candidate and not h.
// https://onnx.ai/onnx/operators/onnx__GRU.html
//
// Lengths, rows without steps and clip as in LSTM.
#include "kernels/gru/gru.h"

#include "ops/rnn/recurrent_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr RecurrentOperands kOperands = OnnxOperands(false);

}  // namespace

RecurrentSpec ReadGruSpec(const NodeAttributes& attrs) {
  constexpr std::string_view kFunctions[] = {"Sigmoid", "Tanh"};
  return ReadOnnxRecurrent(attrs, kOperands, kernels::Gru::kGates, kFunctions);
}

namespace {

OpDef GruVersion(int since_version) {
  OpDef op = OnnxRecurrentOp("GRU", since_version, kOperands);
  if (since_version >= 3) op.attributes.push_back({"linear_before_reset", AttrKind::kInt});
  SetRecurrentFunctions<kernels::Gru, ReadGruSpec>(op);
  return op;
}

}  // namespace

std::span<const OpDef> gru_ops() {
  static const OpDef ops[] = {GruVersion(1), GruVersion(3), GruVersion(7), GruVersion(14), GruVersion(22)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
