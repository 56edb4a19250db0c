// SPDX-License-Identifier: Apache-2.0
// QLinearConv of com.microsoft: that of ai.onnx; with channels_last the channels of x and y are the last axis. Written
// as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/OperatorKernels.md
#include <fmt/format.h>

#include "ops/microsoft/microsoft_op.h"
#include "ops/nn/conv_op.h"
#include "ops/quantize/integer_product.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t /*opset*/) {
  const bool last = NodeAttributes(node).Int("channels_last", 0) != 0;
  std::string text = "(X, X_scale, X_zero_point, W, W_scale, W_zero_point, Y_scale, Y_zero_point, B) => (Y) {\n";
  if (last) text += ChannelsFirstText("x", "X", 0);
  text += fmt::format(R"(  {} = QLinearConv <auto_pad: string = @auto_pad, dilations: ints = @dilations,
    group: int = @group, kernel_shape: ints = @kernel_shape, pads: ints = @pads, strides: ints = @strides>
    ({}, X_scale, X_zero_point, W, W_scale, W_zero_point, Y_scale, Y_zero_point{})
)",
                      last ? "y" : "Y", last ? "x" : "X", HasInput(node, 8) ? ", B" : "");
  if (last) text += ChannelsLastText("Y", "y", 0);
  return text + "}";
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
