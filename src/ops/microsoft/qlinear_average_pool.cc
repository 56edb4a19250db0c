// SPDX-License-Identifier: Apache-2.0
// QLinearAveragePool: AveragePool of a quantised tensor, quantised again; with channels_last the channels are the last
// axis. Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.QLinearAveragePool
#include "ops/microsoft/microsoft_op.h"
#include "ops/quantize/integer_product.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t opset) {
  const NodeAttributes attrs(node);
  const bool last = attrs.Int("channels_last", 0) != 0;
  const size_t rank = attrs.Ints("kernel_shape").size() + 2;
  std::string text = last ? ChannelsFirstText("first", "x", rank) : "  first = Identity (x)\n";
  text += R"(  pooled = AveragePool <auto_pad: string = @auto_pad, ceil_mode: int = @ceil_mode,
    count_include_pad: int = @count_include_pad, kernel_shape: ints = @kernel_shape, pads: ints = @pads,
    strides: ints = @strides> (first)
)";
  text += last ? ChannelsLastText("y", "pooled", rank) : "  y = Identity (pooled)\n";
  return QuantizedUnaryText(node, opset, text);
}

}  // namespace

std::span<const OpDef> qlinear_average_pool_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "QLinearAveragePool",
       .since_version = 1,
       .inputs = {{"X", kByteTypes, "T"},
                  {"x_scale", {TensorType::kFloat}},
                  Optional("x_zero_point", kByteTypes, "T"),
                  {"y_scale", {TensorType::kFloat}},
                  Optional("y_zero_point", kByteTypes, "T")},
       .outputs = {{"Y", kByteTypes, "T"}},
       .attributes = {{"auto_pad", AttrKind::kString},
                      {"ceil_mode", AttrKind::kInt},
                      {"channels_last", AttrKind::kInt},
                      {"count_include_pad", AttrKind::kInt},
                      {"kernel_shape", AttrKind::kInts, true},
                      {"pads", AttrKind::kInts},
                      {"strides", AttrKind::kInts}},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
