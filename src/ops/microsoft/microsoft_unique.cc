// SPDX-License-Identifier: Apache-2.0
// Unique of com.microsoft: the distinct elements of a vector in the order they come, where each element is among them,
// and how often each occurs. Written as a node of ai.onnx's.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.Unique
#include "ops/microsoft/microsoft_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& /*node*/, int64_t /*opset*/) {
  return R"((x) => (y, idx, counts) {
  y, first, idx, counts = Unique <sorted: int = 0> (x)
})";
}

}  // namespace

std::span<const OpDef> microsoft_unique_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "Unique",
       .since_version = 1,
       .inputs = {{"x", kFloat32, "T"}},
       .outputs = {{"y", kFloat32, "T"}, {"idx", {TensorType::kInt64}}, {"counts", {TensorType::kInt64}}},
       .attributes = {},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
