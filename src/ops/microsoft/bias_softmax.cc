// SPDX-License-Identifier: Apache-2.0
// BiasSoftmax: Softmax of data + bias, over all axes from `axis` on together. The bias broadcasts as Add has it, which
// is what is_inner_broadcast says besides. Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.BiasSoftmax
#include <fmt/format.h>

#include "ops/microsoft/microsoft_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t /*opset*/) {
  return fmt::format(R"((data, bias) => (output) {{
  scores = Add (data, bias)
  dims = Shape (scores)
  rows = Flatten <axis: int = {}> (scores)
  shares = Softmax <axis: int = 1> (rows)
  output = Reshape (shares, dims)
}})",
                     NodeAttributes(node).Int("axis", 1));
}

}  // namespace

std::span<const OpDef> bias_softmax_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "BiasSoftmax",
       .since_version = 1,
       .inputs = {{"data", kFloatTypes, "T"}, {"bias", kFloatTypes, "T"}},
       .outputs = {{"output", kFloatTypes, "T"}},
       .attributes = {{"axis", AttrKind::kInt}, {"is_inner_broadcast", AttrKind::kInt, true}},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
