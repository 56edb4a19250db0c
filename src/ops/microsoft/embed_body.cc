// SPDX-License-Identifier: Apache-2.0
#include "ops/microsoft/embed_body.h"

#include <fmt/format.h>

namespace ONNX_LIGHT_NAMESPACE {

std::string EmbedText(const NodeProto& node, int64_t opset, const EmbedInputs& inputs, bool quantised) {
  const auto given = [&](int i) { return i >= 0 && HasInput(node, i); };
  // Only the rows that are looked up become floats.
  const auto rows = [&](std::string_view table) {
    return quantised ? fmt::format("  {0}_rows = DequantizeLinear ({0}_given, {0}_scale, {0}_zero_point)\n", table)
                     : fmt::format("  {0}_rows = Identity ({0}_given)\n", table);
  };
  std::string text = R"(  word_given = Gather (word, input_ids)
  first = Constant <value: tensor = int64 {0}> ()
  second = Constant <value: tensor = int64 {1}> ()
  second_axis = Constant <value: tensor = int64[1] {1}> ()
  dims = Shape (input_ids)
)";
  text += given(inputs.position_ids) ? "  position_given = Gather (position, position_ids)\n"
                                     : R"(  length = Gather (dims, second)
  places = Range (first, length, second)
  position_given = Gather (position, places)
)";
  text += rows("word") + rows("position");
  text += "  placed = Add (word_rows, position_rows)\n";
  text += given(inputs.segment_ids) ? "  segment_given = Gather (segment, segment_ids)\n" + rows("segment") +
                                          "  sum = Add (placed, segment_rows)\n"
                                    : "  sum = Identity (placed)\n";
  text += "  output = LayerNormalization <epsilon: float = @epsilon> (sum, gamma, beta)\n";
  if (!given(inputs.mask))
    return text + R"(  first_axis = Constant <value: tensor = int64[1] {0}> ()
  batch = Slice (dims, first_axis, second_axis)
  mask_index = ConstantOfShape <value: tensor = int32[1] {0}> (batch)
)";
  return text + (opset < 13 ? "  mask_index = ReduceSum <axes: ints = [1], keepdims: int = 0> (mask)\n"
                            : "  mask_index = ReduceSum <keepdims: int = 0> (mask, second_axis)\n");
}

}  // namespace ONNX_LIGHT_NAMESPACE
