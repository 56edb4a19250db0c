// SPDX-License-Identifier: Apache-2.0
// RNN (ai.onnx 1, 7, 14, 22): h' = f(x W^T + h R^T + Wb + Rb) over a batch of sequences, one or two directions.
// https://onnx.ai/onnx/operators/onnx__RNN.html
//
// Lengths, rows without steps and clip as in LSTM.
#include "kernels/rnn/rnn.h"

#include "ops/rnn/recurrent_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr RecurrentOperands kOperands = OnnxOperands(false);

}  // namespace

RecurrentSpec ReadRnnSpec(const NodeAttributes& attrs) {
  constexpr std::string_view kFunctions[] = {"Tanh"};
  return ReadOnnxRecurrent(attrs, kOperands, kernels::Rnn::kGates, kFunctions);
}

namespace {

OpDef RnnVersion(int since_version) {
  OpDef op = OnnxRecurrentOp("RNN", since_version, kOperands);
  SetRecurrentFunctions<kernels::Rnn, ReadRnnSpec>(op);
  return op;
}

}  // namespace

std::span<const OpDef> rnn_ops() {
  static const OpDef ops[] = {RnnVersion(1), RnnVersion(7), RnnVersion(14), RnnVersion(22)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
