// SPDX-License-Identifier: Apache-2.0
// QLinearAdd: the sum of two quantised tensors, which broadcast, quantised again. Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.QLinearAdd
#include "ops/microsoft/microsoft_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t opset) { return QuantizedBinaryText(node, opset, "Add"); }

}  // namespace

std::span<const OpDef> qlinear_add_ops() {
  static const OpDef ops[] = {QuantizedBinaryOp("QLinearAdd", Body)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
