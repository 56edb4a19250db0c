// SPDX-License-Identifier: Apache-2.0
// QLinearSoftmax: Softmax of a quantised tensor, quantised again. Attribute `opset` says whose Softmax: before 13 all
// axes from `axis` on are normalised together. Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.QLinearSoftmax
#include <fmt/format.h>

#include "ops/microsoft/microsoft_op.h"
#include "ops/quantize/integer_product.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t opset) {
  const NodeAttributes attrs(node);
  const bool together = attrs.Int("opset", 0) < 13;
  const int64_t axis = attrs.Int("axis", -1);
  // The model's own Softmax normalises one axis for sure where that is the last one.
  if (!together && opset < 13 && axis != -1)
    FailAttribute("opset", fmt::format("is {}, the model imports ai.onnx {}", attrs.Int("opset", 0), opset));
  return QuantizedUnaryText(node, opset,
                            together
                                ? fmt::format("  dims = Shape (x)\n  rows = Flatten <axis: int = {}> (x)\n"
                                              "  flat = Softmax <axis: int = 1> (rows)\n  y = Reshape (flat, dims)\n",
                                              axis)
                                : fmt::format("  y = Softmax <axis: int = {}> (x)\n", axis));
}

}  // namespace

std::span<const OpDef> qlinear_softmax_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "QLinearSoftmax",
       .since_version = 1,
       .inputs = {{"X", kByteTypes, "T"},
                  {"X_scale", {TensorType::kFloat}},
                  Optional("x_zero_point", kByteTypes, "T"),
                  {"y_scale", {TensorType::kFloat}},
                  {"y_zero_point", kByteTypes, "T"}},
       .outputs = {{"Y", kByteTypes, "T"}},
       .attributes = {{"axis", AttrKind::kInt}, {"opset", AttrKind::kInt, true}},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
