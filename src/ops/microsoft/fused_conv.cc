// SPDX-License-Identifier: Apache-2.0
// FusedConv: Conv, plus Z where that is given, then the function `activation` names, with activation_params as its
// attributes. Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.FusedConv
#include <fmt/format.h>

#include <limits>

#include "ops/microsoft/microsoft_op.h"
#include "ops/nn/conv_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t opset) {
  std::vector<float> params = NodeAttributes(node).Floats("activation_params");
  params.resize(2, std::numeric_limits<float>::quiet_NaN());
  const bool z = HasInput(node, 3);
  return fmt::format(R"((X, W, B, Z) => (Y) {{
  conv = Conv <auto_pad: string = @auto_pad, dilations: ints = @dilations, group: int = @group,
    kernel_shape: ints = @kernel_shape, pads: ints = @pads, strides: ints = @strides> (X, W, B)
{}{}}})",
                     z ? "  sum = Add (conv, Z)\n" : "",
                     ActivationText(node, opset, z ? "sum" : "conv", "Y", params[0], params[1]));
}

}  // namespace

std::span<const OpDef> fused_conv_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "FusedConv",
       .since_version = 1,
       .inputs = {{"X", kFloatTypes, "T"},
                  {"W", kFloatTypes, "T"},
                  Optional("B", kFloatTypes, "T"),
                  Optional("Z", kFloatTypes, "T")},
       .outputs = {{"Y", kFloatTypes, "T"}},
       .attributes = ConvAttributes({{"activation", AttrKind::kString}, {"activation_params", AttrKind::kFloats}}),
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
