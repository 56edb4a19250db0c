// SPDX-License-Identifier: Apache-2.0
// QEmbedLayerNormalization: EmbedLayerNormalization with quantised tables, scale and shift. Written as nodes of other
// operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.QEmbedLayerNormalization
#include "ops/microsoft/embed_body.h"
#include "ops/quantize/integer_product.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t opset) {
  return R"(<epsilon: float = 1e-12> (input_ids, segment_ids, word, position, segment, gamma_quant, beta_quant, mask,
  word_scale, position_scale, segment_scale, gamma_quant_scale, beta_quant_scale,
  word_zero_point, position_zero_point, segment_zero_point, gamma_quant_zero_point, beta_quant_zero_point) =>
  (output, mask_index) {
)" + DequantizeText("gamma", "gamma_quant") +
         DequantizeText("beta", "beta_quant") +
         EmbedText(node, opset, {.segment_ids = 1, .mask = 7, .position_ids = -1}, true) + "}";
}

}  // namespace

std::span<const OpDef> q_embed_layer_normalization_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "QEmbedLayerNormalization",
       .since_version = 1,
       .inputs = {{"input_ids", kInt32, "T1"},
                  Optional("segment_ids", kInt32, "T1"),
                  {"word_embedding_quant", kByteTypes, "T2"},
                  {"position_embedding_quant", kByteTypes, "T2"},
                  Optional("segment_embedding", kByteTypes, "T2"),
                  {"gamma_quant", kByteTypes, "T2"},
                  {"beta_quant", kByteTypes, "T2"},
                  Optional("mask", kInt32, "T1"),
                  {"word_embedding_scale", kFloat32, "T"},
                  {"position_embedding_scale", kFloat32, "T"},
                  Optional("segment_embedding_scale", kFloat32, "T"),
                  {"gamma_scale", kFloat32, "T"},
                  {"beta_scale", kFloat32, "T"},
                  {"word_embedding_zero_point", kByteTypes, "T2"},
                  {"position_embedding_zero_point", kByteTypes, "T2"},
                  Optional("segment_embedding_zero_point", kByteTypes, "T2"),
                  {"gamma_zero_point", kByteTypes, "T2"},
                  {"beta_zero_point", kByteTypes, "T2"}},
       .outputs = {{"layernorm_out", kFloat32, "T"}, {"mask_index_out", kInt32, "T1"}},
       .attributes = {{"epsilon", AttrKind::kFloat}},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
