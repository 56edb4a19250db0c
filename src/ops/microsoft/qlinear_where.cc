// SPDX-License-Identifier: Apache-2.0
// QLinearWhere: Where of two quantised tensors, quantised alike. Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.QLinearWhere
#include "ops/microsoft/microsoft_op.h"
#include "ops/quantize/integer_product.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t opset) {
  return "(condition, X, X_scale, X_zero_point, Y, Y_scale, Y_zero_point, Z_scale, Z_zero_point) => (Z) {\n" +
         DequantizeText("x", "X") + DequantizeText("y", "Y") + "  z = Where (condition, x, y)\n" +
         QuantizeText(node, 8, opset, "z", "Z", "X") + "}";
}

}  // namespace

std::span<const OpDef> qlinear_where_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "QLinearWhere",
       .since_version = 1,
       .inputs = {{"condition", kBoolType, "B"},
                  {"X", kByteTypes, "T"},
                  {"x_scale", kFloat32, "TF"},
                  {"x_zero_point", kByteTypes, "T"},
                  {"Y", kByteTypes, "T"},
                  {"y_scale", kFloat32, "TF"},
                  {"y_zero_point", kByteTypes, "T"},
                  {"z_scale", kFloat32, "TF"},
                  {"z_zero_point", kByteTypes, "T"}},
       .outputs = {{"Z", kByteTypes, "T"}},
       .attributes = {},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
