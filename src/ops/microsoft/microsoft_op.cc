// SPDX-License-Identifier: Apache-2.0
#include "ops/microsoft/microsoft_op.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "graph/node_attributes.h"
#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string TransposeText(std::string_view to, std::string_view from, std::string_view perm) {
  return fmt::format("  {} = Transpose <perm: ints = [{}]> ({})\n", to, perm, from);
}

}  // namespace

OpDef MicrosoftVersion(std::span<const OpDef> ops, int since_version, std::string_view type) {
  const auto it = std::ranges::find(ops, since_version, &OpDef::since_version);
  assert(it != ops.end());
  OpDef op = *it;
  op.domain = kMicrosoft;
  op.type = type;
  op.since_version = 1;
  return op;
}

std::string DequantizeText(std::string_view to, std::string_view x) {
  return fmt::format("  {} = DequantizeLinear ({}, {}_scale, {}_zero_point)\n", to, x, x, x);
}

std::string QuantizeText(const NodeProto& node, int zero_point, int64_t opset, std::string_view from,
                         std::string_view y, std::string_view like) {
  if (HasInput(node, zero_point))
    return fmt::format("  {} = QuantizeLinear ({}, {}_scale, {}_zero_point)\n", y, from, y, y);
  if (opset < 15)
    throw Unsupported("is needed before operator set 15 of ai.onnx",
                      ErrorWhere{.op_type = {},
                                 .node_name = {},
                                 .subject = fmt::format("input {} '{}_zero_point'", zero_point, y),
                                 .path = {}});
  std::string text = "  no_shift = Constant <value: tensor = int32 {0}> ()\n";
  text += fmt::format("  typed_shift = CastLike (no_shift, {})\n", like);
  text += fmt::format("  {} = QuantizeLinear ({}, {}_scale, typed_shift)\n", y, from, y);
  return text;
}

std::string QuantizedUnaryText(const NodeProto& node, int64_t opset, std::string_view nodes) {
  return "(X, X_scale, X_zero_point, Y_scale, Y_zero_point) => (Y) {\n" + DequantizeText("x", "X") +
         std::string(nodes) + QuantizeText(node, 4, opset, "y", "Y", "X") + "}";
}

std::string QuantizedBinaryText(const NodeProto& node, int64_t opset, std::string_view op) {
  return "(A, A_scale, A_zero_point, B, B_scale, B_zero_point, C_scale, C_zero_point) => (C) {\n" +
         DequantizeText("a", "A") + DequantizeText("b", "B") + fmt::format("  c = {} (a, b)\n", op) +
         QuantizeText(node, 7, opset, "c", "C", "A") + "}";
}

std::string ChannelsFirstText(std::string_view to, std::string_view from, size_t rank) {
  std::string perm = fmt::format("0, {}", rank - 1);
  for (size_t d = 1; d + 1 < rank; ++d) perm += fmt::format(", {}", d);
  return TransposeText(to, from, perm);
}

std::string ChannelsLastText(std::string_view to, std::string_view from, size_t rank) {
  std::string perm = "0";
  for (size_t d = 2; d < rank; ++d) perm += fmt::format(", {}", d);
  return TransposeText(to, from, perm + ", 1");
}

std::string SplitInThreeText(int64_t opset, std::string_view from, std::string_view to, std::string_view sizes) {
  if (sizes.empty())
    return fmt::format("  {} = Split <axis: int = -1{}> ({})\n", to, opset < 18 ? "" : ", num_outputs: int = 3", from);
  if (opset < 13) return fmt::format("  {} = Split <axis: int = -1, split: ints = [{}]> ({})\n", to, sizes, from);
  return fmt::format("  sizes = Constant <value_ints: ints = [{}]> ()\n  {} = Split <axis: int = -1> ({}, sizes)\n",
                     sizes, to, from);
}

std::string ActivationText(const NodeProto& node, int64_t opset, std::string_view from, std::string_view y, float alpha,
                           float beta) {
  const std::string name = NodeAttributes(node).String("activation", "");
  if (name.empty()) return fmt::format("  {} = Identity ({})\n", y, from);
  if (name == "Clip") {
    const float low = std::isnan(alpha) ? -3.402823466e+38f : alpha, high = std::isnan(beta) ? 3.402823466e+38f : beta;
    if (opset < 11) return fmt::format("  {} = Clip <min: float = {:e}, max: float = {:e}> ({})\n", y, low, high, from);
    return fmt::format("  low = Constant <value_float: float = {:e}> ()\n", low) +
           fmt::format("  high = Constant <value_float: float = {:e}> ()\n", high) +
           fmt::format("  {} = Clip ({}, low, high)\n", y, from);
  }
  struct Function {
    std::string_view name;
    bool alpha, beta;
  };
  constexpr Function kFunctions[] = {{"Relu", false, false},      {"Tanh", false, false},
                                     {"Sigmoid", false, false},   {"LeakyRelu", true, false},
                                     {"HardSigmoid", true, true}, {"ThresholdedRelu", true, false},
                                     {"Elu", true, false},        {"Softplus", false, false},
                                     {"Softsign", false, false},  {"HardSwish", false, false}};
  const auto* const it = std::ranges::find(kFunctions, std::string_view(name), &Function::name);
  if (it == std::end(kFunctions)) {
    std::string known = "Clip";
    for (const Function& function : kFunctions) known += fmt::format(", {}", function.name);
    FailAttribute("activation", fmt::format("is \"{}\", must be one of {}", name, known));
  }
  std::string attributes;
  const auto add = [&](bool has, std::string_view attribute, float value) {
    if (!has || std::isnan(value)) return;
    attributes += fmt::format("{}{}: float = {:e}", attributes.empty() ? "" : ", ", attribute, value);
  };
  add(it->alpha, "alpha", alpha);
  add(it->beta, "beta", beta);
  return fmt::format("  {} = {}{} ({})\n", y, name, attributes.empty() ? "" : fmt::format(" <{}>", attributes), from);
}

}  // namespace ONNX_LIGHT_NAMESPACE
