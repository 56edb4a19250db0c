// SPDX-License-Identifier: Apache-2.0
// CenterCropPad: each of `axes` (all without it) brought to the size that the second input gives: cropped at both ends,
// or filled with zeros (empty text) there; of an odd number of elements one more at the end. Written as nodes of other
// operators.
// https://onnx.ai/onnx/operators/onnx__CenterCropPad.html
#include <fmt/format.h>

#include <string>

#include "graph/node_attributes.h"
#include "ops/op_def.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t /*opset*/) {
  const bool some = NodeAttributes(node).Has("axes");
  // Pads and crops are halved alike: that of the other kind is 0.
  return fmt::format(R"((input_data, shape) => (output_data) {{
  all_dims = Shape (input_data)
  {}
  wanted = Cast <to: int = 7> (shape)
  more = Sub (wanted, dims)
  two = Constant <value_int: int = 2> ()
  none = Constant <value_int: int = 0> ()
  less = Neg (more)
  pad = Max (more, none)
  crop = Max (less, none)
  pad_before = Div (pad, two)
  crop_before = Div (crop, two)
  before = Sub (pad_before, crop_before)
  after = Sub (more, before)
  pads = Concat <axis: int = 0> (before, after)
  output_data = Pad (input_data, pads, "", {})
}})",
                     some ? "axes = Constant <value_ints: ints = @axes> ()  dims = Gather (all_dims, axes)"
                          : "dims = Identity (all_dims)",
                     some ? "axes" : "\"\"");
}

}  // namespace

std::span<const OpDef> center_crop_pad_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "CenterCropPad",
       .since_version = 18,
       .inputs = {{"input_data", kAllTypes, "T"}, {"shape", kIndexTypes, "Tind"}},
       .outputs = {{"output_data", kAllTypes, "T"}},
       .attributes = {{"axes", AttrKind::kInts}},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
