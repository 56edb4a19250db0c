// SPDX-License-Identifier: Apache-2.0
// FusedGemm: Gemm, then the function `activation` names, with activation_alpha and activation_beta as its attributes.
// Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.FusedGemm
#include <limits>

#include "ops/microsoft/microsoft_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t opset) {
  const NodeAttributes attrs(node);
  const auto given = [&](std::string_view name) { return attrs.Float(name, std::numeric_limits<float>::quiet_NaN()); };
  return R"((A, B, C) => (Y) {
  sums = Gemm <alpha: float = @alpha, beta: float = @beta, transA: int = @transA, transB: int = @transB> (A, B, C)
)" + ActivationText(node, opset, "sums", "Y", given("activation_alpha"), given("activation_beta")) +
         "}";
}

}  // namespace

std::span<const OpDef> fused_gemm_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "FusedGemm",
       .since_version = 1,
       .inputs = {{"A", kFloatTypes, "T"}, {"B", kFloatTypes, "T"}, Optional("C", kFloatTypes, "T")},
       .outputs = {{"Y", kFloatTypes, "T"}},
       .attributes = {{"activation", AttrKind::kString},
                      {"activation_alpha", AttrKind::kFloat},
                      {"activation_beta", AttrKind::kFloat},
                      {"activation_gamma", AttrKind::kFloat},
                      {"alpha", AttrKind::kFloat},
                      {"beta", AttrKind::kFloat},
                      {"transA", AttrKind::kInt},
                      {"transB", AttrKind::kInt}},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
