// SPDX-License-Identifier: Apache-2.0
#include "ops/microsoft/microsoft_op.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "onnxseq/errors.h"
#include "ops/quantize/integer_product.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string TransposeText(std::string_view to, std::string_view from, std::string_view perm) {
  return fmt::format("  {} = Transpose <perm: ints = [{}]> ({})\n", to, perm, from);
}

// The same for any rank: between the places [channels] and [inner] of the dims, by way of a matrix for each batch
// entry.
std::string MoveChannelsText(std::string_view to, std::string_view from, std::string_view channels,
                             std::string_view inner, std::string_view matrix, std::string_view moved) {
  std::string text;
  for (const auto& [name, place] : {std::pair<std::string_view, int64_t>{"first", 0},
                                    {"second", 1},
                                    {"third", 2},
                                    {"last", -1},
                                    {"end", std::numeric_limits<int64_t>::max()}})
    text += fmt::format("  {}_{} = Constant <value: tensor = int64[1] {{{}}}> ()\n", to, name, place);
  // Names in the lists get `to` before them, which keeps two moves in one body apart.
  const auto own = [&](std::string_view list) {
    std::string names;
    for (size_t begin = 0; begin < list.size();) {
      const size_t end = std::min(list.find(", ", begin), list.size());
      names += fmt::format("{}{}_{}", names.empty() ? "" : ", ", to, list.substr(begin, end - begin));
      begin = end + 2;
    }
    return names;
  };
  const auto slice = [&](std::string_view name, std::string_view places) {
    text += fmt::format("  {}_{} = Slice ({}_dims, {})\n", to, name, to, own(places));
  };
  text += fmt::format("  {}_dims = Shape ({})\n", to, from);
  slice("batch", "first, second");
  slice("channels", channels);
  slice("inner", inner);
  text += fmt::format("  {}_matrix_dims = Concat <axis: int = 0> ({})\n", to, own(matrix));
  text += fmt::format("  {}_matrix = Reshape ({}, {}_matrix_dims)\n", to, from, to);
  text += fmt::format("  {}_moved = Transpose <perm: ints = [0, 2, 1]> ({}_matrix)\n", to, to);
  text += fmt::format("  {}_moved_dims = Concat <axis: int = 0> ({}, {})\n", to, own("batch"), own(moved));
  return text + fmt::format("  {} = Reshape ({}_moved, {}_moved_dims)\n", to, to, to);
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

void FailUnsupported(std::string subject, std::string fact) {
  throw Unsupported(std::move(fact),
                    ErrorWhere{.op_type = {}, .node_name = {}, .subject = std::move(subject), .path = {}});
}

void RefuseAttribute(const NodeAttributes& attrs, std::string_view name) {
  if (attrs.Int(name, 0) != 0) FailUnsupported(fmt::format("attribute '{}'", name), "is not supported");
}

void RefuseInput(const NodeProto& node, int i, std::string_view name) {
  if (HasInput(node, i)) FailUnsupported(fmt::format("input {} '{}'", i, name), "is not supported");
}

void RefuseOutput(const NodeProto& node, int i, std::string_view name) {
  if (HasOutput(node, i)) FailUnsupported(fmt::format("output {} '{}'", i, name), "is not supported");
}

std::string FloatText(float value) { return fmt::format("{:.8e}", value); }

std::string DequantizeText(std::string_view to, std::string_view x) {
  return fmt::format("  {} = DequantizeLinear ({}, {}_scale, {}_zero_point)\n", to, x, x, x);
}

std::string QuantizeText(const NodeProto& node, int zero_point, int64_t opset, std::string_view from,
                         std::string_view y, std::string_view like) {
  if (HasInput(node, zero_point))
    return fmt::format("  {} = QuantizeLinear ({}, {}_scale, {}_zero_point)\n", y, from, y, y);
  if (opset < 15)
    FailUnsupported(fmt::format("input {} '{}_zero_point'", zero_point, y),
                    "is needed before operator set 15 of ai.onnx");
  std::string text = "  no_shift = Constant <value: tensor = int32 {0}> ()\n";
  text += fmt::format("  typed_shift = CastLike (no_shift, {})\n", like);
  text += fmt::format("  {} = QuantizeLinear ({}, {}_scale, typed_shift)\n", y, from, y);
  return text;
}

OpDef QuantizedUnaryOp(std::string_view type, std::vector<AttrDef> attributes,
                       std::string (*body)(const NodeProto&, int64_t)) {
  return {.domain = kMicrosoft,
          .type = type,
          .since_version = 1,
          .inputs = {{"X", kByteTypes, "T"},
                     {"X_scale", kFloat32},
                     Optional("X_zero_point", kByteTypes, "T"),
                     {"Y_scale", kFloat32},
                     Optional("Y_zero_point", kByteTypes, "T")},
          .outputs = {{"Y", kByteTypes, "T"}},
          .attributes = std::move(attributes),
          .body = body};
}

std::string QuantizedUnaryText(const NodeProto& node, int64_t opset, std::string_view nodes) {
  return "(X, X_scale, X_zero_point, Y_scale, Y_zero_point) => (Y) {\n" + DequantizeText("x", "X") +
         std::string(nodes) + QuantizeText(node, 4, opset, "y", "Y", "X") + "}";
}

std::string ChannelsFirstText(std::string_view to, std::string_view from, size_t rank) {
  if (rank == 0)
    return MoveChannelsText(to, from, "last, end", "second, last", "batch, last, channels", "channels, inner");
  std::string perm = fmt::format("0, {}", rank - 1);
  for (size_t d = 1; d + 1 < rank; ++d) perm += fmt::format(", {}", d);
  return TransposeText(to, from, perm);
}

std::string ChannelsLastText(std::string_view to, std::string_view from, size_t rank) {
  if (rank == 0)
    return MoveChannelsText(to, from, "second, third", "third, end", "batch, channels, last", "inner, channels");
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
    using Limits = std::numeric_limits<float>;
    const std::string low = FloatText(std::isnan(alpha) ? Limits::lowest() : alpha),
                      high = FloatText(std::isnan(beta) ? Limits::max() : beta);
    if (opset < 11) return fmt::format("  {} = Clip <min: float = {}, max: float = {}> ({})\n", y, low, high, from);
    return fmt::format("  low = Constant <value_float: float = {}> ()\n", low) +
           fmt::format("  high = Constant <value_float: float = {}> ()\n", high) +
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
    attributes += fmt::format("{}{}: float = {}", attributes.empty() ? "" : ", ", attribute, FloatText(value));
  };
  add(it->alpha, "alpha", alpha);
  add(it->beta, "beta", beta);
  return fmt::format("  {} = {}{} ({})\n", y, name, attributes.empty() ? "" : fmt::format(" <{}>", attributes), from);
}

}  // namespace ONNX_LIGHT_NAMESPACE
