// SPDX-License-Identifier: Apache-2.0
// QLinearMul: the product of two quantised tensors, which broadcast, quantised again. Written as nodes of other
// operators. https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.QLinearMul
#include "ops/microsoft/microsoft_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t opset) { return QuantizedBinaryText(node, opset, "Mul"); }

}  // namespace

std::span<const OpDef> qlinear_mul_ops() {
  static const OpDef ops[] = {QuantizedBinaryOp("QLinearMul", Body)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
