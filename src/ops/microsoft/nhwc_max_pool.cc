// SPDX-License-Identifier: Apache-2.0
// NhwcMaxPool: MaxPool of 8-bit tensors whose channels are the last axis. Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.NhwcMaxPool
#include "ops/microsoft/microsoft_op.h"
#include "ops/quantize/integer_product.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t /*opset*/) {
  const size_t rank = NodeAttributes(node).Ints("kernel_shape").size() + 2;
  return "(x) => (y) {\n" + ChannelsFirstText("first", "x", rank) + R"(  pooled = MaxPool <auto_pad: string = @auto_pad,
    ceil_mode: int = @ceil_mode, dilations: ints = @dilations, kernel_shape: ints = @kernel_shape, pads: ints = @pads,
    strides: ints = @strides> (first)
)" + ChannelsLastText("y", "pooled", rank) +
         "}";
}

}  // namespace

std::span<const OpDef> nhwc_max_pool_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "NhwcMaxPool",
       .since_version = 1,
       .inputs = {{"x", kByteTypes, "T"}},
       .outputs = {{"y", kByteTypes, "T"}},
       .attributes = {{"auto_pad", AttrKind::kString},
                      {"ceil_mode", AttrKind::kInt},
                      {"dilations", AttrKind::kInts},
                      {"kernel_shape", AttrKind::kInts, true},
                      {"pads", AttrKind::kInts},
                      {"strides", AttrKind::kInts}},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
