// SPDX-License-Identifier: Apache-2.0
// DynamicQuantizeLSTM: ONNX's LSTM (layout 0) with 8-bit weights, stored [D,I,4H] and [D,H,4H], each with one scale and
// zero point for each direction, [D], or for each column, [D,4H]. The weights are dequantised and X stays as it is:
// onnxruntime also rounds X and the state to 8 bits at each step, so its results are within that rounding of these.
// Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.DynamicQuantizeLSTM
#include <fmt/format.h>

#include "graph/node_attributes.h"
#include "ops/microsoft/microsoft_op.h"
#include "ops/quantize/integer_product.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// `to` = the weights as LSTM has them: floats [D,4H,I].
std::string WeightText(std::string_view to, std::string_view w, int directions) {
  // One scale for each direction, or one for each column: [D,1,1] or [D,1,4H].
  std::string text = fmt::format("  {}_places = Constant <value: tensor = int64[3] {{{}, 1, -1}}> ()\n", w, directions);
  for (const std::string_view what : {"zero_point", "scale"})
    text += fmt::format("  {}_{}_3 = Reshape ({}_{}, {}_places)\n", w, what, w, what, w);
  text += fmt::format("  {}_zero = Cast <to: int = 1> ({}_zero_point_3)\n", w, w);
  text += fmt::format("  {}_wide = Cast <to: int = 1> ({})\n", w, w);
  text += fmt::format("  {}_steps = Sub ({}_wide, {}_zero)\n", w, w, w);
  text += fmt::format("  {}_float = Mul ({}_steps, {}_scale_3)\n", w, w, w);
  text += fmt::format("  {} = Transpose <perm: ints = [0, 2, 1]> ({}_float)\n", to, w);
  return text;
}

std::string Body(const NodeProto& node, int64_t /*opset*/) {
  const int directions = NodeAttributes(node).String("direction", "forward") == "bidirectional" ? 2 : 1;
  return "(X, W, R, B, sequence_lens, initial_h, initial_c, P, W_scale, W_zero_point, R_scale, R_zero_point) => "
         "(Y, Y_h, Y_c) {\n" +
         WeightText("w", "W", directions) + WeightText("r", "R", directions) + R"(  Y, Y_h, Y_c = LSTM <
    activation_alpha: floats = @activation_alpha, activation_beta: floats = @activation_beta,
    activations: strings = @activations, clip: float = @clip, direction: string = @direction,
    hidden_size: int = @hidden_size, input_forget: int = @input_forget>
    (X, w, r, B, sequence_lens, initial_h, initial_c, P)
})";
}

}  // namespace

std::span<const OpDef> dynamic_quantize_lstm_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "DynamicQuantizeLSTM",
       .since_version = 1,
       .inputs = {{"X", kFloat32, "T"},
                  {"W", kByteTypes, "T2"},
                  {"R", kByteTypes, "T2"},
                  Optional("B", kFloat32, "T"),
                  Optional("sequence_lens", kInt32, "T1"),
                  Optional("initial_h", kFloat32, "T"),
                  Optional("initial_c", kFloat32, "T"),
                  Optional("P", kFloat32, "T"),
                  {"W_scale", kFloat32, "T"},
                  {"W_zero_point", kByteTypes, "T2"},
                  {"R_scale", kFloat32, "T"},
                  {"R_zero_point", kByteTypes, "T2"}},
       .outputs = {Optional("Y", kFloat32, "T"), Optional("Y_h", kFloat32, "T"), Optional("Y_c", kFloat32, "T")},
       .attributes = {{"activation_alpha", AttrKind::kFloats},
                      {"activation_beta", AttrKind::kFloats},
                      {"activations", AttrKind::kStrings},
                      {"clip", AttrKind::kFloat},
                      {"direction", AttrKind::kString},
                      {"hidden_size", AttrKind::kInt},
                      {"input_forget", AttrKind::kInt}},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
