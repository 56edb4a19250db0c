// SPDX-License-Identifier: Apache-2.0
// SkipSimplifiedLayerNormalization: SimplifiedLayerNormalization over the last axis of input + skip + bias, which sum
// is an output, too; the output `mean` is not supported. Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.SkipSimplifiedLayerNormalization
#include <fmt/format.h>

#include "ops/microsoft/microsoft_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t /*opset*/) {
  RefuseOutput(node, 1, "mean");
  return fmt::format(R"(<epsilon: float = 1e-12> (input, skip, gamma, bias) => (output, mean, inv_std_var, sum) {{
  pair = Add (input, skip)
  sum = {}
  output, inv_std_var = SimplifiedLayerNormalization <epsilon: float = @epsilon> (sum, gamma)
}})",
                     HasInput(node, 3) ? "Add (pair, bias)" : "Identity (pair)");
}

}  // namespace

std::span<const OpDef> skip_simplified_layer_normalization_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "SkipSimplifiedLayerNormalization",
       .since_version = 1,
       .inputs = {{"input", kFloatTypes, "T"},
                  {"skip", kFloatTypes, "T"},
                  {"gamma", kFloatTypes, "T"},
                  Optional("bias", kFloatTypes, "T")},
       .outputs = {{"output", kFloatTypes, "T"},
                   Optional("mean", kFloat32, "U"),
                   Optional("inv_std_var", kFloat32, "U"),
                   Optional("input_skip_bias_sum", kFloatTypes, "T")},
       .attributes = {{"epsilon", AttrKind::kFloat}},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
