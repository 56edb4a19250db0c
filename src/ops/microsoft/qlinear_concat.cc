// SPDX-License-Identifier: Apache-2.0
// QLinearConcat: quantised tensors, each given with its scale and zero point, put together along an axis and quantised
// alike. Written as nodes of other operators.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.QLinearConcat
#include <fmt/format.h>

#include "onnxseq/errors.h"
#include "ops/microsoft/microsoft_op.h"
#include "ops/quantize/integer_product.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t opset) {
  const int count = (node.input_size() - 2) / 3;
  if (node.input_size() != 2 + 3 * count)
    throw InvalidArgument(fmt::format("takes a scale and a zero point for each tensor, got {} inputs after the first 2",
                                      node.input_size() - 2));
  std::string inputs = "Y_scale, Y_zero_point", nodes, parts;
  for (int i = 0; i < count; ++i) {
    const std::string x = fmt::format("X{}", i);
    inputs += fmt::format(", {}, {}_scale, {}_zero_point", x, x, x);
    nodes += DequantizeText(fmt::format("x{}", i), x);
    parts += fmt::format("{}x{}", i == 0 ? "" : ", ", i);
  }
  return fmt::format("({}) => (Y) {{\n{}  y = Concat <axis: int = @axis> ({})\n{}}}", inputs, nodes, parts,
                     QuantizeText(node, 1, opset, "y", "Y", "X0"));
}

constexpr TypeSet kPartTypes = kByteTypes | kFloat32;

}  // namespace

std::span<const OpDef> qlinear_concat_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "QLinearConcat",
       .since_version = 1,
       .inputs = {{"Y_scale", kFloat32, "TF"},
                  {"Y_zero_point", kByteTypes, "T8"},
                  {.name = "inputs", .types = kPartTypes, .count = FormalCount::kVariadic, .min_count = 3}},
       .outputs = {{"Y", kByteTypes, "T8"}},
       .attributes = {{"axis", AttrKind::kInt, true}},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
