// SPDX-License-Identifier: Apache-2.0
// QLinearReduceMean: ReduceMean of a quantised tensor, quantised again. Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.QLinearReduceMean
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ops/microsoft/microsoft_op.h"
#include "ops/quantize/integer_product.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t opset) {
  const std::vector<int64_t> axes = NodeAttributes(node).Ints("axes");
  return QuantizedUnaryText(node, opset,
                            opset < 18 ? "  y = ReduceMean <axes: ints = @axes, keepdims: int = @keepdims> (x)\n"
                                       : fmt::format("  axes = Constant <value_ints: ints = [{}]> ()\n"
                                                     "  y = ReduceMean <keepdims: int = @keepdims> (x, axes)\n",
                                                     fmt::join(axes, ", ")));
}

}  // namespace

std::span<const OpDef> qlinear_reduce_mean_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "QLinearReduceMean",
       .since_version = 1,
       .inputs = {{"data", kByteTypes, "T"},
                  {"data_scale", {TensorType::kFloat}},
                  Optional("data_zero_point", kByteTypes, "T"),
                  {"reduced_scale", {TensorType::kFloat}},
                  Optional("reduced_zero_point", kByteTypes, "T")},
       .outputs = {{"reduced", kByteTypes, "T"}},
       .attributes = {{"axes", AttrKind::kInts, true}, {"keepdims", AttrKind::kInt, true}},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
