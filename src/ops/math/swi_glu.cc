// SPDX-License-Identifier: Apache-2.0
// SwiGLU: A times the sigmoid of alpha A, times B. Written as nodes of other operators.
// https://onnx.ai/onnx/operators/onnx__SwiGLU.html
#include "ops/op_def.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& /*node*/, int64_t /*opset*/) {
  return "<alpha: float = 1.0> (A, B) => (Y) { gate = Swish <alpha: float = @alpha> (A)  Y = Mul (gate, B) }";
}

}  // namespace

std::span<const OpDef> swi_glu_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "SwiGLU",
       .since_version = 28,
       .inputs = {{"A", kFloatTypes, "T"}, {"B", kFloatTypes, "T"}},
       .outputs = {{"Y", kFloatTypes, "T"}},
       .attributes = {{"alpha", AttrKind::kFloat}},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
