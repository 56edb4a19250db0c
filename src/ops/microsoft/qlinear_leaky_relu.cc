// SPDX-License-Identifier: Apache-2.0
// QLinearLeakyRelu: LeakyRelu of a quantised tensor, quantised again. Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.QLinearLeakyRelu
#include "ops/microsoft/microsoft_op.h"
#include "ops/quantize/integer_product.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t opset) {
  return QuantizedUnaryText(node, opset, "  y = LeakyRelu <alpha: float = @alpha> (x)\n");
}

}  // namespace

std::span<const OpDef> qlinear_leaky_relu_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "QLinearLeakyRelu",
       .since_version = 1,
       .inputs = {{"X", kByteTypes, "T"},
                  {"X_scale", {TensorType::kFloat}},
                  Optional("X_zero_point", kByteTypes, "T"),
                  {"Y_scale", {TensorType::kFloat}},
                  Optional("Y_zero_point", kByteTypes, "T")},
       .outputs = {{"Y", kByteTypes, "T"}},
       .attributes = {{"alpha", AttrKind::kFloat}},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
