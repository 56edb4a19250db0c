// SPDX-License-Identifier: Apache-2.0
// Attention of com.microsoft: queries, keys and values are one product of the input, plus a bias, then as
// MultiHeadAttention. `past` and `present` hold keys and values [2,B,heads,length,size]. Rotation (do_rotary) and
// shared buffers are not supported. Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.Attention
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ops/microsoft/attention_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t opset) {
  const NodeAttributes attrs(node);
  RefuseAttribute(attrs, "do_rotary");
  RefuseAttribute(attrs, "past_present_share_buffer");
  RefuseInput(node, 6, "past_sequence_length");
  const std::vector<int64_t> sizes = attrs.Ints("qkv_hidden_sizes");
  if (!sizes.empty() && sizes.size() != 3)
    FailAttribute("qkv_hidden_sizes", fmt::format("must have 3 entries, got {}", sizes.size()));
  return fmt::format(R"((input, weights, bias, mask_index, past, attention_bias, past_sequence_length) =>
  (output, present) {{
  product = MatMul (input, weights)
  projected = {}
{}{}}})",
                     HasInput(node, 2) ? "Add (product, bias)" : "Identity (product)",
                     SplitInThreeText(opset, "projected", "q, k, v", fmt::format("{}", fmt::join(sizes, ", "))),
                     MergedAttentionText(node, opset, 4, 5));
}

}  // namespace

std::span<const OpDef> microsoft_attention_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "Attention",
       .since_version = 1,
       .inputs = {{"input", kFloatOrHalf, "T"},
                  {"weights", kFloatOrHalf, "T"},
                  Optional("bias", kFloatOrHalf, "T"),
                  Optional("mask_index", kInt32, "M"),
                  Optional("past", kFloatOrHalf, "T"),
                  Optional("attention_bias", kFloatOrHalf, "T"),
                  Optional("past_sequence_length", kInt32, "M")},
       .outputs = {{"output", kFloatOrHalf, "T"}, Optional("present", kFloatOrHalf, "T")},
       .attributes = {{"do_rotary", AttrKind::kInt},
                      {"mask_filter_value", AttrKind::kFloat},
                      {"num_heads", AttrKind::kInt, true},
                      {"past_present_share_buffer", AttrKind::kInt},
                      {"qkv_hidden_sizes", AttrKind::kInts},
                      {"rotary_embedding_dim", AttrKind::kInt},
                      {"scale", AttrKind::kFloat},
                      {"unidirectional", AttrKind::kInt}},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
