// SPDX-License-Identifier: Apache-2.0
// QLinearLeakyRelu: LeakyRelu of a quantised tensor, quantised again. Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.QLinearLeakyRelu
#include "ops/microsoft/microsoft_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t opset) {
  return QuantizedUnaryText(node, opset, "  y = LeakyRelu <alpha: float = @alpha> (x)\n");
}

}  // namespace

std::span<const OpDef> qlinear_leaky_relu_ops() {
  static const OpDef ops[] = {QuantizedUnaryOp("QLinearLeakyRelu", {{"alpha", AttrKind::kFloat}}, Body)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
