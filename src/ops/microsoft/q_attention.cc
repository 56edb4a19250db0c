// SPDX-License-Identifier: Apache-2.0
// QAttention: Attention of com.microsoft whose product is one of 8-bit matrices, scaled to floats. Rotation (do_rotary)
// and shared buffers are not supported. Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.QAttention
#include <fmt/format.h>

#include "ops/microsoft/attention_op.h"
#include "ops/quantize/integer_product.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t opset) {
  const NodeAttributes attrs(node);
  RefuseAttribute(attrs, "do_rotary");
  RefuseAttribute(attrs, "past_present_share_buffer");
  return fmt::format(
      R"((input, weight, bias, input_scale, weight_scale, mask_index, input_zero_point, weight_zero_point, past) =>
  (output, present) {{
  projected = com.microsoft.MatMulIntegerToFloat (input, weight, input_scale, weight_scale, input_zero_point,
    weight_zero_point, bias)
{}{}}})",
      SplitInThreeText(opset, "projected", "q, k, v", {}), MergedAttentionText(node, opset, 8, -1));
}

}  // namespace

std::span<const OpDef> q_attention_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "QAttention",
       .since_version = 1,
       .inputs = {{"input", kByteTypes, "T1"},
                  {"weight", kByteTypes, "T2"},
                  {"bias", kFloat32, "T3"},
                  {"input_scale", kFloat32, "T3"},
                  {"weight_scale", kFloat32, "T3"},
                  Optional("mask_index", kInt32, "T4"),
                  Optional("input_zero_point", kByteTypes, "T1"),
                  Optional("weight_zero_point", kByteTypes, "T2"),
                  Optional("past", kFloat32, "T3")},
       .outputs = {{"output", kFloat32, "T3"}, Optional("present", kFloat32, "T3")},
       .attributes = {{"do_rotary", AttrKind::kInt},
                      {"mask_filter_value", AttrKind::kFloat},
                      {"num_heads", AttrKind::kInt, true},
                      {"past_present_share_buffer", AttrKind::kInt},
                      {"scale", AttrKind::kFloat},
                      {"unidirectional", AttrKind::kInt}},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
