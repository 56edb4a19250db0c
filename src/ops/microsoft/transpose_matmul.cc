// SPDX-License-Identifier: Apache-2.0
// TransposeMatMul: FusedMatMul by its older name. Written as a node of it.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.TransposeMatMul
#include "ops/microsoft/microsoft_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& /*node*/, int64_t /*opset*/) {
  return R"((A, B) => (Y) {
  Y = com.microsoft.FusedMatMul <alpha: float = @alpha, transA: int = @transA, transB: int = @transB> (A, B)
})";
}

}  // namespace

std::span<const OpDef> transpose_matmul_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "TransposeMatMul",
       .since_version = 1,
       .inputs = {{"A", kFloatTypes, "T"}, {"B", kFloatTypes, "T"}},
       .outputs = {{"Y", kFloatTypes, "T"}},
       .attributes = {{"alpha", AttrKind::kFloat}, {"transA", AttrKind::kInt}, {"transB", AttrKind::kInt}},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
