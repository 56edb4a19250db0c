// SPDX-License-Identifier: Apache-2.0
// FastGelu: Gelu of X + bias by its approximation with tanh. Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.FastGelu
#include <fmt/format.h>

#include "ops/microsoft/microsoft_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t /*opset*/) {
  return fmt::format(R"((X, bias) => (Y) {{
  x = {}
  Y = com.microsoft.Gelu <approximate: string = "tanh"> (x)
}})",
                     HasInput(node, 1) ? "Add (X, bias)" : "Identity (X)");
}

}  // namespace

std::span<const OpDef> fast_gelu_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "FastGelu",
       .since_version = 1,
       .inputs = {{"X", kFloatTypes, "T"}, Optional("bias", kFloatTypes, "T")},
       .outputs = {{"Y", kFloatTypes, "T"}},
       .attributes = {},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
