// SPDX-License-Identifier: Apache-2.0
// MatMulIntegerToFloat: MatMulInteger's product as floats: times the scales of both operands, plus a bias. One scale
// for each operand, or for B one for each column. Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.MatMulIntegerToFloat
#include <fmt/format.h>

#include "ops/microsoft/microsoft_op.h"
#include "ops/quantize/integer_product.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t /*opset*/) {
  const bool bias = HasInput(node, 6);
  return fmt::format(R"((A, B, a_scale, b_scale, a_zero_point, b_zero_point, bias) => (Y) {{
  sums = MatMulInteger (A, B, a_zero_point, b_zero_point)
  wide = Cast <to: int = 1> (sums)
  scale = Mul (a_scale, b_scale)
  {} = Mul (wide, scale)
{}}})",
                     bias ? "scaled" : "Y", bias ? "  Y = Add (scaled, bias)\n" : "");
}

}  // namespace

std::span<const OpDef> matmul_integer_to_float_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "MatMulIntegerToFloat",
       .since_version = 1,
       .inputs = {{"A", kByteTypes, "T1"},
                  {"B", kByteTypes, "T2"},
                  {"a_scale", kFloat32, "T3"},
                  {"b_scale", kFloat32, "T3"},
                  Optional("a_zero_point", kByteTypes, "T1"),
                  Optional("b_zero_point", kByteTypes, "T2"),
                  Optional("bias", kFloat32, "T3")},
       .outputs = {{"Y", kFloat32, "T3"}},
       .attributes = {},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
