// SPDX-License-Identifier: Apache-2.0
// QLinearConv of com.microsoft: Conv of quantised tensors, quantised again; weights have one scale and zero point, or
// one for each output channel, and the bias counts in steps of x_scale w_scale. With channels_last those of x and y are
// the last axis. Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/OperatorKernels.md
#include <fmt/format.h>

#include "ops/microsoft/microsoft_op.h"
#include "ops/nn/conv_op.h"
#include "ops/quantize/integer_product.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t opset) {
  const NodeAttributes attrs(node);
  const bool last = attrs.Int("channels_last", 0) != 0;
  std::string text = "(X, X_scale, X_zero_point, W, W_scale, W_zero_point, Y_scale, Y_zero_point, B) => (Y) {\n";
  text += DequantizeText("given", "X");
  text += last ? ChannelsFirstText("x", "given", 0) : "  x = Identity (given)\n";
  text += "  w = DequantizeLinear <axis: int = 0> (W, W_scale, W_zero_point)\n";
  if (HasInput(node, 8))
    text += "  steps = Cast <to: int = 1> (B)\n  scale = Mul (X_scale, W_scale)\n  b = Mul (steps, scale)\n";
  text += fmt::format(R"(  sums = Conv <auto_pad: string = @auto_pad, dilations: ints = @dilations, group: int = @group,
    kernel_shape: ints = @kernel_shape, pads: ints = @pads, strides: ints = @strides> (x, w{})
)",
                      HasInput(node, 8) ? ", b" : "");
  text += last ? ChannelsLastText("y", "sums", 0) : "  y = Identity (sums)\n";
  return text + QuantizeText(node, 7, opset, "y", "Y", "X") + "}";
}

}  // namespace

std::span<const OpDef> microsoft_qlinear_conv_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "QLinearConv",
       .since_version = 1,
       .inputs = {{"x", kByteTypes, "T1"},
                  {"x_scale", {TensorType::kFloat}},
                  {"x_zero_point", kByteTypes, "T1"},
                  {"w", kByteTypes, "T2"},
                  {"w_scale", {TensorType::kFloat}},
                  {"w_zero_point", kByteTypes, "T2"},
                  {"y_scale", {TensorType::kFloat}},
                  {"y_zero_point", kByteTypes, "T3"},
                  Optional("B", kInt32, "T4")},
       .outputs = {{"y", kByteTypes, "T3"}},
       .attributes = ConvAttributes({{"channels_last", AttrKind::kInt}}),
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
