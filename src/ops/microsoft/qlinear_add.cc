// SPDX-License-Identifier: Apache-2.0
// QLinearAdd: the sum of two quantised tensors, which broadcast, quantised again. Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.QLinearAdd
#include "ops/microsoft/microsoft_op.h"
#include "ops/quantize/integer_product.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t opset) { return QuantizedBinaryText(node, opset, "Add"); }

}  // namespace

std::span<const OpDef> qlinear_add_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "QLinearAdd",
       .since_version = 1,
       .inputs = {{"A", kByteTypes, "T"},
                  {"A_scale", {TensorType::kFloat}},
                  Optional("A_zero_point", kByteTypes, "T"),
                  {"B", kByteTypes, "T"},
                  {"B_scale", {TensorType::kFloat}},
                  Optional("B_zero_point", kByteTypes, "T"),
                  {"C_scale", {TensorType::kFloat}},
                  Optional("C_zero_point", kByteTypes, "T")},
       .outputs = {{"C", kByteTypes, "T"}},
       .attributes = {},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
