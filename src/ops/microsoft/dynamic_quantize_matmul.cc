// SPDX-License-Identifier: Apache-2.0
// DynamicQuantizeMatMul: A quantised to uint8 by its own range, times the 8-bit matrix B, as floats again: scaled by
// both, plus a bias. B has one scale, or one for each column. Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.DynamicQuantizeMatMul
#include "ops/microsoft/microsoft_op.h"
#include "ops/quantize/integer_product.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& /*node*/, int64_t /*opset*/) {
  return R"((A, B, b_scale, b_zero_point, bias) => (Y) {
  a, a_scale, a_zero_point = DynamicQuantizeLinear (A)
  Y = com.microsoft.MatMulIntegerToFloat (a, B, a_scale, b_scale, a_zero_point, b_zero_point, bias)
})";
}

}  // namespace

std::span<const OpDef> dynamic_quantize_matmul_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "DynamicQuantizeMatMul",
       .since_version = 1,
       .inputs = {{"A", kFloat32, "T1"},
                  {"B", kByteTypes, "T2"},
                  {"b_scale", kFloat32, "T1"},
                  Optional("b_zero_point", kByteTypes, "T2"),
                  Optional("bias", kFloat32, "T1")},
       .outputs = {{"Y", kFloat32, "T1"}},
       .attributes = {},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
