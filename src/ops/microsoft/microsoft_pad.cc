// SPDX-License-Identifier: Apache-2.0
// Pad of com.microsoft: that of ai.onnx 11, whose pads may also be [1, 2 rank]. Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.Pad
#include "ops/microsoft/microsoft_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& /*node*/, int64_t /*opset*/) {
  return R"((data, pads, value) => (output) {
  all = Constant <value: tensor = int64[1] {-1}> ()
  list = Reshape (pads, all)
  output = Pad <mode: string = @mode> (data, list, value)
})";
}

}  // namespace

std::span<const OpDef> microsoft_pad_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "Pad",
       .since_version = 1,
       .inputs = {{"data", kFloatTypes, "T"}, {"pads", {TensorType::kInt64}}, Optional("value", kFloatTypes, "T")},
       .outputs = {{"output", kFloatTypes, "T"}},
       .attributes = {{"mode", AttrKind::kString}},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
