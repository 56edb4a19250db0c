// SPDX-License-Identifier: Apache-2.0
// EmbedLayerNormalization: LayerNormalization of the sum of a word's, a position's and, where given, a segment's row of
// their tables, which sum is an output, too. mask_index counts the ones of each row of the mask; it is all 0 without
// one. Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.EmbedLayerNormalization
#include "ops/microsoft/embed_body.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t opset) {
  return "<epsilon: float = 1e-12> (input_ids, segment_ids, word, position, segment, gamma, beta, mask, position_ids) "
         "=> "
         "(output, mask_index, sum) {\n" +
         EmbedText(node, opset, {.segment_ids = 1, .mask = 7, .position_ids = 8}, false) + "}";
}

}  // namespace

std::span<const OpDef> embed_layer_normalization_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "EmbedLayerNormalization",
       .since_version = 1,
       .inputs = {{"input_ids", kInt32, "T1"},
                  Optional("segment_ids", kInt32, "T1"),
                  {"word_embedding", kFloatOrHalf, "T"},
                  {"position_embedding", kFloatOrHalf, "T"},
                  Optional("segment_embedding", kFloatOrHalf, "T"),
                  {"gamma", kFloatOrHalf, "T"},
                  {"beta", kFloatOrHalf, "T"},
                  Optional("mask", kInt32, "T1"),
                  Optional("position_ids", kInt32, "T1")},
       .outputs = {{"output", kFloatOrHalf, "T"},
                   Optional("mask_index", kInt32, "T1"),
                   Optional("embedding_sum", kFloatOrHalf, "T")},
       .attributes = {{"epsilon", AttrKind::kFloat}, {"mask_index_type", AttrKind::kInt}},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
