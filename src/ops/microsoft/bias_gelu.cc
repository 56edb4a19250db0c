// SPDX-License-Identifier: Apache-2.0
// BiasGelu: Gelu of A + B, B a vector along the last axis. Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.BiasGelu
#include "ops/microsoft/microsoft_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& /*node*/, int64_t /*opset*/) {
  return R"((A, B) => (C) {
  x = Add (A, B)
  C = com.microsoft.Gelu (x)
})";
}

}  // namespace

std::span<const OpDef> bias_gelu_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "BiasGelu",
       .since_version = 1,
       .inputs = {{"A", kFloatTypes, "T"}, {"B", kFloatTypes, "T"}},
       .outputs = {{"C", kFloatTypes, "T"}},
       .attributes = {},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
