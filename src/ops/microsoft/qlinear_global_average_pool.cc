// SPDX-License-Identifier: Apache-2.0
// QLinearGlobalAveragePool: GlobalAveragePool of a quantised tensor, quantised again; with channels_last the channels
// are the last axis. Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.QLinearGlobalAveragePool
#include "ops/microsoft/microsoft_op.h"
#include "ops/quantize/integer_product.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t opset) {
  if (NodeAttributes(node).Int("channels_last", 0) == 0)
    return QuantizedUnaryText(node, opset, "  y = GlobalAveragePool (x)\n");
  return QuantizedUnaryText(
      node, opset,
      ChannelsFirstText("first", "x", 0) + "  means = GlobalAveragePool (first)\n" + ChannelsLastText("y", "means", 0));
}

}  // namespace

std::span<const OpDef> qlinear_global_average_pool_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "QLinearGlobalAveragePool",
       .since_version = 1,
       .inputs = {{"X", kByteTypes, "T"},
                  {"x_scale", {TensorType::kFloat}},
                  {"x_zero_point", kByteTypes, "T"},
                  {"y_scale", {TensorType::kFloat}},
                  {"y_zero_point", kByteTypes, "T"}},
       .outputs = {{"Y", kByteTypes, "T"}},
       .attributes = {{"channels_last", AttrKind::kInt}},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
