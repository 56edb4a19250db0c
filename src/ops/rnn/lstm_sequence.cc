// SPDX-License-Identifier: Apache-2.0
// LSTMSequence (org.openvinotoolkit 1; OpenVINO LSTMSequence-1 and -5): LSTM with the batch first, all states and
// lengths given, one summed bias, gates f, i, c, o. Domain org.openvinotoolkit.
// https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/sequence/lstm-sequence-5.html
//
// Files of the time before opset5 may carry weights_format (another order of gates), input_forget (here i = 1 - f) and
// peepholes P in the order f, i, o. Lengths must lie in [0, T]; the rest is as LSTM does it. Runs in float and double.
#include <algorithm>
#include <array>
#include <string>

#include "ops/rnn/lstm_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr LstmOperands kOperands{
    .x = 0,
    .w = 4,
    .r = 5,
    .b = 6,
    .lengths = 3,
    .h0 = 1,
    .c0 = 2,
    .p = 7,
    .bias_blocks = 4,
    .names = {"X", "initial_hidden_state", "initial_cell_state", "sequence_lengths", "W", "R", "B", "P"}};

// The arrangements OpenVINO has names for.
constexpr std::array<std::string_view, 5> kWeightsFormats{"fico", "icof", "ifoc", "ifco", "iofc"};

LstmSpec ReadSpec(const NodeAttributes& attrs) {
  LstmSpec spec;
  spec.operands = &kOperands;
  spec.layout = LstmLayout::kOpenVino;
  spec.peepholes = kernels::kFio;
  ReadLstmAttributes(attrs, "activations_alpha", "activations_beta", true, spec);
  const std::string format = attrs.String("weights_format", "fico");
  const auto order = kernels::LstmGateOrderFromName(format);
  if (!order || std::find(kWeightsFormats.begin(), kWeightsFormats.end(), format) == kWeightsFormats.end()) {
    FailAttribute("weights_format", "must be fico, icof, ifoc, ifco or iofc, got \"" + format + "\"");
  }
  spec.gates = *order;
  if (attrs.Int("input_forget", 0) != 0) {
    for (kernels::LstmCell& cell : spec.cells) cell.coupling = kernels::LstmCoupling::kInputFromForget;
  }
  return spec;
}

void Infer(InferScope& scope) { InferLstm(scope, ReadSpec(scope.attrs())); }
std::unique_ptr<OpState> Prepare(const PrepareContext& context) {
  return PrepareLstm(context, ReadSpec(context.attrs()));
}

OpDef MakeOp() {
  const TypeSet floats{TensorType::kFloat, TensorType::kDouble};
  const auto data = [&](std::string_view name) { return Formal{.name = name, .types = floats, .type_var = "T1"}; };
  return {.domain = "org.openvinotoolkit",
          .type = "LSTMSequence",
          .since_version = 1,
          .inputs = {data("X"),
                     data("initial_hidden_state"),
                     data("initial_cell_state"),
                     {.name = "sequence_lengths", .types = kIntTypes, .type_var = "T2"},
                     data("W"),
                     data("R"),
                     data("B"),
                     {.name = "P", .types = floats, .type_var = "T1", .count = FormalCount::kOptional}},
          .outputs = {{.name = "Y", .types = floats, .type_var = "T1", .count = FormalCount::kOptional},
                      {.name = "Ho", .types = floats, .type_var = "T1", .count = FormalCount::kOptional},
                      {.name = "Co", .types = floats, .type_var = "T1", .count = FormalCount::kOptional}},
          .attributes = {{"hidden_size", AttrKind::kInt, true},
                         {"direction", AttrKind::kString},
                         {"activations", AttrKind::kStrings},
                         {"activations_alpha", AttrKind::kFloats},
                         {"activations_beta", AttrKind::kFloats},
                         {"clip", AttrKind::kFloat},
                         {"weights_format", AttrKind::kString},
                         {"input_forget", AttrKind::kInt}},
          .shape = Infer,
          .prepare = Prepare,
          .run = RunLstmOp};
}

}  // namespace

std::span<const OpDef> lstm_sequence_ops() {
  static const OpDef ops[] = {MakeOp()};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
