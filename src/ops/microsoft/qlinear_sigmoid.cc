// SPDX-License-Identifier: Apache-2.0
// QLinearSigmoid: the sigmoid of a quantised tensor, quantised again. Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.QLinearSigmoid
#include "ops/microsoft/microsoft_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t opset) {
  return QuantizedUnaryText(node, opset, "  y = Sigmoid (x)\n");
}

}  // namespace

std::span<const OpDef> qlinear_sigmoid_ops() {
  static const OpDef ops[] = {QuantizedUnaryOp("QLinearSigmoid", {}, Body)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
