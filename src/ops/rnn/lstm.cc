// SPDX-License-Identifier: Apache-2.0
// LSTM (ai.onnx 7, 14, 22): one layer, one or two directions, over a batch of sequences. Gates i, o, f, c; peepholes i,
// o, f. https://onnx.ai/onnx/operators/onnx__LSTM.html
//
// Where the page leaves it open: clip bounds the gates' pre-activations only, not what reaches the output activation;
// input_forget makes f = 1 - i; sequence_lens must lie in [0, T]; steps past a row's length give Y = 0, a row of length
// 0 also Y_h = Y_c = 0; without steps (T = 0) the final states are the initial ones. Runs in float and double.
#include "ops/rnn/lstm_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr LstmOperands kOperands{.x = 0,
                                 .w = 1,
                                 .r = 2,
                                 .b = 3,
                                 .lengths = 4,
                                 .h0 = 5,
                                 .c0 = 6,
                                 .p = 7,
                                 .bias_blocks = 8,
                                 .names = {"X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P"}};

LstmSpec ReadSpec(const NodeAttributes& attrs) {
  LstmSpec spec;
  spec.operands = &kOperands;
  ReadLstmAttributes(attrs, "activation_alpha", "activation_beta", false, spec);
  const int64_t layout = attrs.Int("layout", 0);
  if (layout != 0 && layout != 1) FailAttribute("layout", "must be 0 or 1, got " + std::to_string(layout));
  spec.layout = layout == 1 ? LstmLayout::kBatchMajor : LstmLayout::kTimeMajor;
  if (attrs.Int("input_forget", 0) != 0) {
    for (kernels::LstmCell& cell : spec.cells) cell.coupling = kernels::LstmCoupling::kForgetFromInput;
  }
  return spec;
}

void Infer(InferScope& scope) { InferLstm(scope, ReadSpec(scope.attrs())); }
std::unique_ptr<OpState> Prepare(const PrepareContext& context) {
  return PrepareLstm(context, ReadSpec(context.attrs()));
}

OpDef LstmVersion(int since_version) {
  const TypeSet floats{TensorType::kFloat, TensorType::kDouble};
  const auto optional = [&](std::string_view name) {
    return Formal{.name = name, .types = floats, .type_var = "T", .count = FormalCount::kOptional};
  };
  OpDef op{.domain = "",
           .type = "LSTM",
           .since_version = since_version,
           .inputs = {{.name = "X", .types = floats, .type_var = "T"},
                      {.name = "W", .types = floats, .type_var = "T"},
                      {.name = "R", .types = floats, .type_var = "T"},
                      optional("B"),
                      {.name = "sequence_lens",
                       .types = {TensorType::kInt32},
                       .type_var = "T1",
                       .count = FormalCount::kOptional},
                      optional("initial_h"),
                      optional("initial_c"),
                      optional("P")},
           .outputs = {optional("Y"), optional("Y_h"), optional("Y_c")},
           .attributes = {{"activation_alpha", AttrKind::kFloats},
                          {"activation_beta", AttrKind::kFloats},
                          {"activations", AttrKind::kStrings},
                          {"clip", AttrKind::kFloat},
                          {"direction", AttrKind::kString},
                          {"hidden_size", AttrKind::kInt},
                          {"input_forget", AttrKind::kInt}},
           .shape = Infer,
           .prepare = Prepare,
           .run = RunLstmOp};
  if (since_version >= 14) op.attributes.push_back({"layout", AttrKind::kInt});
  return op;
}

}  // namespace

std::span<const OpDef> lstm_ops() {
  static const OpDef ops[] = {LstmVersion(7), LstmVersion(14), LstmVersion(22)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
