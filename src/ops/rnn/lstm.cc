// SPDX-License-Identifier: Apache-2.0
// LSTM (ai.onnx 1, 7, 14, 22): one layer, one or two directions, over a batch of sequences. Gates i, o, f, c; peepholes
// i, o, f. https://onnx.ai/onnx/operators/onnx__LSTM.html
//
// Where the page leaves it open: clip bounds the gates' pre-activations only, not what reaches the output activation;
// input_forget makes f = 1 - i; sequence_lens must lie in [0, T]; steps past a row's length give Y = 0, a row of length
// 0 also Y_h = Y_c = 0; without steps (T = 0) the final states are the initial ones.
#include "kernels/lstm/lstm.h"

#include "ops/rnn/recurrent_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr RecurrentOperands kOperands = OnnxOperands(true);

}  // namespace

RecurrentSpec ReadLstmSpec(const NodeAttributes& attrs) {
  constexpr std::string_view kFunctions[] = {"Sigmoid", "Tanh", "Tanh"};
  RecurrentSpec spec = ReadOnnxRecurrent(attrs, kOperands, kernels::Lstm::kGates, kFunctions);
  if (attrs.Int("input_forget", 0) != 0) spec.coupling = kernels::LstmCoupling::kForgetFromInput;
  return spec;
}

namespace {

OpDef LstmVersion(int since_version) {
  OpDef op = OnnxRecurrentOp("LSTM", since_version, kOperands);
  op.attributes.push_back({"input_forget", AttrKind::kInt});
  SetRecurrentFunctions<kernels::Lstm, ReadLstmSpec>(op);
  return op;
}

}  // namespace

std::span<const OpDef> lstm_ops() {
  static const OpDef ops[] = {LstmVersion(1), LstmVersion(7), LstmVersion(14), LstmVersion(22)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
