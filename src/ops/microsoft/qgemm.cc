// SPDX-License-Identifier: Apache-2.0
// QGemm: alpha op(A) op(B) + C of quantised matrices, where C counts in steps of alpha a_scale b_scale; as floats, or
// quantised by y_scale and y_zero_point. B has one scale and zero point, or one for each column. Written as nodes of
// other operators. https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.QGemm
#include <fmt/format.h>

#include "ops/microsoft/microsoft_op.h"
#include "ops/quantize/integer_product.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr TypeSet kQGemmResults = kByteTypes | kFloat32;

std::string Body(const NodeProto& node, int64_t opset) {
  const NodeAttributes attrs(node);
  std::string text = "(A, a_scale, a_zero_point, B, b_scale, b_zero_point, C, y_scale, y_zero_point) => (y) {\n";
  const auto turned = [&](std::string_view attribute) {
    return attrs.Int(attribute, 0) != 0 ? "Transpose" : "Identity";
  };
  text += fmt::format("  a = {} (A)\n  b = {} (B)\n", turned("transA"), turned("transB"));
  text += "  product = MatMulInteger (a, b, a_zero_point, b_zero_point)\n";
  text += HasInput(node, 6) ? "  sums = Add (product, C)\n" : "  sums = Identity (product)\n";
  text += "  wide = Cast <to: int = 1> (sums)\n  both = Mul (a_scale, b_scale)\n";
  text += fmt::format("  alpha = Constant <value: tensor = float {{{}}}> ()\n", FloatText(attrs.Float("alpha", 1)));
  text += "  scale = Mul (both, alpha)\n";
  text += HasInput(node, 7) ? "  scaled = Mul (wide, scale)\n" + QuantizeText(node, 8, opset, "scaled", "y", "A")
                            : "  y = Mul (wide, scale)\n";
  return text + "}";
}

}  // namespace

std::span<const OpDef> qgemm_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "QGemm",
       .since_version = 1,
       .inputs = {{"A", kByteTypes, "TA"},
                  {"a_scale", kFloat32, "T"},
                  {"a_zero_point", kByteTypes, "TA"},
                  {"B", kByteTypes, "TB"},
                  {"b_scale", kFloat32, "T"},
                  {"b_zero_point", kByteTypes, "TB"},
                  Optional("C", kInt32, "TC"),
                  Optional("y_scale", kFloat32, "T"),
                  Optional("y_zero_point", kByteTypes, "TYZ")},
       .outputs = {{"Y", kQGemmResults, "TY"}},
       .attributes = {{"alpha", AttrKind::kFloat}, {"transA", AttrKind::kInt}, {"transB", AttrKind::kInt}},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
