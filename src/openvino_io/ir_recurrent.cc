// SPDX-License-Identifier: Apache-2.0
// Recurrent layers stay what they are, in the domain org.openvinotoolkit. Absent activations are the documented ones,
// which the operators take by themselves.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "openvino_io/ir_layer_functions.h"
#include "openvino_io/ir_reader.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Which of the attributes beside the common ones a layer has.
struct Extras {
  bool sequence = false;             // direction
  bool legacy_lstm = false;          // weights_format and input_forget
  bool linear_before_reset = false;  // as said
};

std::string ReadDirection(const IrLowering& l) {
  const std::string given = l.attrs().String("direction", "forward");
  std::string direction = given;
  std::transform(direction.begin(), direction.end(), direction.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    l.layer().Fail("attribute 'direction'",
                   fmt::format("must be forward, reverse or bidirectional, got {}", QuoteForMessage(given)));
  }
  return direction;
}

void LowerRecurrent(IrLowering& l, const Extras& extras) {
  const IrAttributes attrs = l.attrs();
  NodeProto& node = l.DirectNode(l.layer().type);
  node.set_domain(std::string(kOpenVinoDomain));
  SetInt(node, "hidden_size", attrs.Int("hidden_size"));
  if (extras.sequence) SetString(node, "direction", ReadDirection(l));
  if (const auto names = attrs.Strings("activations"); !names.empty()) SetStrings(node, "activations", names);
  for (const char* name : {"activations_alpha", "activations_beta"}) {
    if (const auto values = attrs.Floats(name); !values.empty()) SetFloats(node, name, values);
  }
  if (attrs.Has("clip")) SetFloat(node, "clip", attrs.Float("clip", 0));
  if (extras.linear_before_reset && attrs.Bool("linear_before_reset", false)) SetInt(node, "linear_before_reset", 1);
  if (extras.legacy_lstm) {
    if (attrs.Has("weights_format")) SetString(node, "weights_format", attrs.String("weights_format"));
    if (attrs.Bool("input_forget", false)) SetInt(node, "input_forget", 1);
  }
  for (size_t i = 0; i < l.layer().outputs.size(); ++i) {
    IrValue& output = l.output(static_cast<int>(i));
    output.type = l.input(0).type;
    output.rank = !extras.sequence ? 2 : i == 0 ? 4 : 3;
  }
}

// Before `opset` an LSTM knew peepholes (its last input), input_forget and weights_format; later ones ignore such
// attributes.
bool IsLegacyLstm(const IrLowering& l, int opset, int inputs) {
  if (l.layer().opset < opset) return true;
  if (l.input_size() != inputs) {
    l.layer().Fail("", fmt::format("must have {} inputs in {}, got {}", inputs, l.layer().version, l.input_size()));
  }
  return false;
}

}  // namespace

void LowerLstmSequence(IrLowering& l) { LowerRecurrent(l, {.sequence = true, .legacy_lstm = IsLegacyLstm(l, 5, 7)}); }
void LowerLstmCell(IrLowering& l) { LowerRecurrent(l, {.legacy_lstm = IsLegacyLstm(l, 4, 6)}); }
void LowerGruSequence(IrLowering& l) { LowerRecurrent(l, {.sequence = true, .linear_before_reset = true}); }
void LowerGruCell(IrLowering& l) { LowerRecurrent(l, {.linear_before_reset = true}); }
void LowerRnnSequence(IrLowering& l) { LowerRecurrent(l, {.sequence = true}); }
void LowerRnnCell(IrLowering& l) { LowerRecurrent(l, {}); }

}  // namespace ONNX_LIGHT_NAMESPACE
