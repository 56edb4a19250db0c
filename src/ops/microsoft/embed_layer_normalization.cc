// SPDX-License-Identifier: Apache-2.0
// EmbedLayerNormalization: LayerNormalization of the sum of a word's, a position's and, where given, a segment's row of
// their tables, which sum is an output, too. mask_index counts the ones of each row of the mask; it is all 0 without
// one. Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.EmbedLayerNormalization
#include <fmt/format.h>

#include "ops/microsoft/microsoft_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t opset) {
  std::string text = R"(<epsilon: float = 1e-12>
  (input_ids, segment_ids, words, positions, segments, gamma, beta, mask, position_ids) =>
  (output, mask_index, sum) {
  word_rows = Gather (words, input_ids)
  first = Constant <value: tensor = int64[1] {0}> ()
  second = Constant <value: tensor = int64[1] {1}> ()
  dims = Shape (input_ids)
  batch = Slice (dims, first, second)
)";
  text += HasInput(node, 8) ? "  position_rows = Gather (positions, position_ids)\n"
                            : R"(  end = Constant <value: tensor = int64[1] {2}> ()
  length = Slice (dims, second, end)
  position_rows = Slice (positions, first, length, first)
)";
  text += "  placed = Add (word_rows, position_rows)\n";
  text += HasInput(node, 1) ? "  segment_rows = Gather (segments, segment_ids)\n  sum = Add (placed, segment_rows)\n"
                            : "  sum = Identity (placed)\n";
  text += "  output = LayerNormalization <epsilon: float = @epsilon> (sum, gamma, beta)\n";
  if (!HasInput(node, 7)) {
    text += "  mask_index = ConstantOfShape <value: tensor = int32[1] {0}> (batch)\n";
  } else if (opset < 13) {
    text += "  mask_index = ReduceSum <axes: ints = [1], keepdims: int = 0> (mask)\n";
  } else {
    text += "  mask_index = ReduceSum <keepdims: int = 0> (mask, second)\n";
  }
  return text + "}";
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
