// SPDX-License-Identifier: Apache-2.0
// Attributes and formals of recurrent operators.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/lower_case.h"
#include "ops/internal/internal_domain.h"
#include "ops/internal/segments.h"
#include "ops/rnn/recurrent_limits.h"
#include "ops/rnn/recurrent_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr std::string_view kOpenVino = "org.openvinotoolkit";

std::string KnownActivations() {
  std::string names;
  for (int kind = 0; kind < kernels::kActivationKinds; ++kind) {
    names += (kind == 0 ? "" : ", ") + std::string(kernels::ActivationName(static_cast<kernels::ActivationKind>(kind)));
  }
  return names;
}

std::string ReadDirection(const NodeAttributes& attrs, RecurrentSpec& spec) {
  const std::string given = attrs.String("direction", "forward");
  std::string direction = LowerCase(given);
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    FailAttribute("direction", fmt::format("must be forward, reverse or bidirectional, got \"{}\"", given));
  }
  spec.directions = direction == "bidirectional" ? 2 : 1;
  spec.reverse = {direction == "reverse", true};
  return direction;
}

void ReadHiddenSize(const NodeAttributes& attrs, RecurrentSpec& spec) {
  if (!attrs.Has("hidden_size")) return;
  spec.hidden_size = attrs.Int("hidden_size");
  if (*spec.hidden_size < 1 || *spec.hidden_size > kMaxHiddenSize) {
    FailAttribute("hidden_size", fmt::format("must be in [1,{}], got {}", kMaxHiddenSize, *spec.hidden_size));
  }
}

struct ActivationAttributes {
  std::span<const std::string_view> defaults;
  std::string_view alpha, beta;  // names of the attributes
  bool one_set_serves_both;
};

void ReadActivations(const NodeAttributes& attrs, const ActivationAttributes& given, const std::string& direction,
                     RecurrentSpec& spec) {
  std::vector<std::string> names = attrs.Strings("activations");
  const size_t each = given.defaults.size(), all = each * static_cast<size_t>(spec.directions);
  if (names.empty()) {
    for (size_t k = 0; k < all; ++k) names.emplace_back(given.defaults[k % each]);
  }
  const bool shared = spec.directions == 2 && given.one_set_serves_both && names.size() == each;
  if (names.size() != all && !shared) {
    const bool either = given.one_set_serves_both && spec.directions == 2;
    FailAttribute("activations",
                  fmt::format("must be {}{} name{} for direction {}, got {}", either ? fmt::format("{} or ", each) : "",
                              all, all == 1 ? "" : "s", direction, names.size()));
  }
  const std::vector<float> alphas = attrs.Floats(given.alpha), betas = attrs.Floats(given.beta);
  size_t next_alpha = 0, next_beta = 0;
  for (size_t d = 0; d < static_cast<size_t>(spec.directions); ++d) {
    if (d == 1 && shared) {
      if (alphas.size() < 2 * next_alpha) next_alpha = 0;
      if (betas.size() < 2 * next_beta) next_beta = 0;
    }
    for (size_t k = 0; k < each; ++k) {
      const size_t entry = shared ? k : each * d + k;
      const auto kind = kernels::ActivationFromName(names[entry]);
      if (!kind) {
        FailAttribute("activations",
                      fmt::format("entry {} must be one of {}, got \"{}\"", entry, KnownActivations(), names[entry]));
      }
      kernels::Activation& function = spec.functions[d][k];
      function = kernels::Activation::Default(*kind);
      if (kernels::TakesAlpha(*kind) && next_alpha < alphas.size())
        function.alpha = static_cast<double>(alphas[next_alpha++]);
      if (kernels::TakesBeta(*kind) && next_beta < betas.size())
        function.beta = static_cast<double>(betas[next_beta++]);
    }
  }
}

RecurrentSpec ReadCommon(const NodeAttributes& attrs, const RecurrentOperands& operands, int gates,
                         const ActivationAttributes& activations) {
  RecurrentSpec spec;
  spec.operands = &operands;
  spec.gates = gates;
  const std::string direction = ReadDirection(attrs, spec);
  ReadHiddenSize(attrs, spec);
  ReadActivations(attrs, activations, direction, spec);
  spec.clip = static_cast<double>(attrs.Float("clip", 0.0f));
  spec.linear_before_reset = attrs.Int("linear_before_reset", 0) != 0;
  return spec;
}

// The formals at the positions `operands` gives; X to P have element type `var`.
std::vector<Formal> InputFormals(const RecurrentOperands& operands, TypeSet floats, const Formal& lengths,
                                 std::string_view var, std::span<const int> optional) {
  std::vector<Formal> formals;
  for (int i = 0; i < static_cast<int>(operands.names.size()); ++i) {
    const std::string_view name = operands.names[static_cast<size_t>(i)];
    if (name.empty()) break;
    Formal formal = i == operands.lengths ? lengths : Formal{.name = name, .types = floats, .type_var = var};
    formal.name = name;
    if (std::ranges::find(optional, i) != optional.end()) formal.count = FormalCount::kOptional;
    formals.push_back(formal);
  }
  return formals;
}

}  // namespace

RecurrentSpec ReadOnnxRecurrent(const NodeAttributes& attrs, const RecurrentOperands& operands, int gates,
                                std::span<const std::string_view> defaults) {
  RecurrentSpec spec = ReadCommon(attrs, operands, gates, {defaults, "activation_alpha", "activation_beta", false});
  spec.bias_blocks = 2 * gates;
  const int64_t layout = attrs.Int("layout", 0);
  if (layout != 0 && layout != 1) FailAttribute("layout", "must be 0 or 1, got " + std::to_string(layout));
  spec.layout = layout == 1 ? RecurrentLayout::kBatchMajor : RecurrentLayout::kTimeMajor;
  return spec;
}

std::optional<RecurrentSpec> ReadSequenceSpec(const OpDef& op, const NodeAttributes& attrs) {
  struct Operator {
    std::string_view domain, type;
    RecurrentSpec (*read)(const NodeAttributes&);
  };
  static constexpr Operator kOperators[] = {{"", "LSTM", ReadLstmSpec},
                                            {"", "GRU", ReadGruSpec},
                                            {"", "RNN", ReadRnnSpec},
                                            {kOpenVino, "LSTMSequence", ReadLstmSequenceSpec},
                                            {kOpenVino, "GRUSequence", ReadGruSequenceSpec},
                                            {kOpenVino, "RNNSequence", ReadRnnSequenceSpec}};
  for (const auto& [domain, type, read] : kOperators)
    if (op.domain == domain && op.type == type) return read(attrs);
  return std::nullopt;
}

RecurrentSpec PackedSpec(RecurrentSpec spec, const RecurrentOperands& operands) {
  if (spec.layout != RecurrentLayout::kTimeMajor) FailAttribute("layout", "must be 0 with packed values, got 1");
  spec.layout = RecurrentLayout::kPacked;
  spec.operands = &operands;
  return spec;
}

RecurrentSpec ReadOpenVinoRecurrent(const NodeAttributes& attrs, const RecurrentOperands& operands,
                                    RecurrentLayout layout, int gates, std::span<const std::string_view> defaults) {
  RecurrentSpec spec = ReadCommon(attrs, operands, gates, {defaults, "activations_alpha", "activations_beta", true});
  spec.layout = layout;
  spec.bias_blocks = gates + (spec.linear_before_reset ? 1 : 0);
  spec.gate_order = kernels::kFico;
  spec.peephole_order = kernels::kFio;
  return spec;
}

void ReadLegacyLstmAttributes(const NodeAttributes& attrs, RecurrentSpec& spec) {
  // The arrangements OpenVINO has names for.
  constexpr std::array<std::string_view, 5> kFormats{"fico", "icof", "ifoc", "ifco", "iofc"};
  const std::string format = attrs.String("weights_format", "fico");
  if (std::find(kFormats.begin(), kFormats.end(), format) == kFormats.end()) {
    FailAttribute("weights_format", "must be fico, icof, ifoc, ifco or iofc, got \"" + format + "\"");
  }
  spec.gate_order = *kernels::LstmGateOrderFromName(format);
  if (attrs.Int("input_forget", 0) != 0) spec.coupling = kernels::LstmCoupling::kInputFromForget;
}

OpDef OnnxRecurrentOp(std::string_view type, int since_version, const RecurrentOperands& operands) {
  TypeSet floats{TensorType::kFloat, TensorType::kDouble, TensorType::kFloat16};
  if (since_version >= 22) floats = floats | TypeSet{TensorType::kBfloat16};
  const auto output = [&](std::string_view name) {
    return Formal{.name = name, .types = floats, .type_var = "T", .count = FormalCount::kOptional};
  };
  const std::array<int, 5> optional{operands.b, operands.lengths, operands.h0, operands.c0, operands.p};
  OpDef op{.domain = "",
           .type = type,
           .since_version = since_version,
           .inputs = InputFormals(operands, floats, {.name = {}, .types = {TensorType::kInt32}, .type_var = "T1"}, "T",
                                  optional),
           .outputs = {output("Y"), output("Y_h")},
           .attributes = {{"activation_alpha", AttrKind::kFloats},
                          {"activation_beta", AttrKind::kFloats},
                          {"activations", AttrKind::kStrings},
                          {"clip", AttrKind::kFloat},
                          {"direction", AttrKind::kString},
                          {"hidden_size", AttrKind::kInt}},
           .shape = nullptr,
           .run = nullptr};
  if (operands.c0 >= 0) op.outputs.push_back(output("Y_c"));
  // It said whether Y is wanted, which its name says as well.
  if (since_version < 7) op.attributes.push_back({"output_sequence", AttrKind::kInt});
  if (since_version >= 14) op.attributes.push_back({"layout", AttrKind::kInt});
  return op;
}

OpDef PackedRecurrentOp(std::string_view type, const RecurrentOperands& operands) {
  OpDef op = OnnxRecurrentOp(type, 22, operands);
  op.domain = kInternalDomain;
  op.since_version = 1;
  op.inputs[static_cast<size_t>(operands.lengths)] = kLengthsFormal;
  return op;
}

OpDef OpenVinoRecurrentOp(std::string_view type, RecurrentLayout layout, const RecurrentOperands& operands) {
  const auto output = [&](std::string_view name) {
    return Formal{.name = name, .types = kFloatTypes, .type_var = "T1", .count = FormalCount::kOptional};
  };
  const std::array<int, 1> optional{operands.p};
  OpDef op{
      .domain = kOpenVino,
      .type = type,
      .since_version = 1,
      .inputs = InputFormals(operands, kFloatTypes, {.name = {}, .types = kIntTypes, .type_var = "T2"}, "T1", optional),
      .outputs = {},
      .attributes = {{"hidden_size", AttrKind::kInt, true},
                     {"activations", AttrKind::kStrings},
                     {"activations_alpha", AttrKind::kFloats},
                     {"activations_beta", AttrKind::kFloats},
                     {"clip", AttrKind::kFloat}},
      .shape = nullptr,
      .run = nullptr};
  if (layout != RecurrentLayout::kCell) {
    op.outputs.push_back(output("Y"));
    op.attributes.push_back({"direction", AttrKind::kString});
  }
  op.outputs.push_back(output("Ho"));
  if (operands.c0 >= 0) op.outputs.push_back(output("Co"));
  return op;
}

}  // namespace ONNX_LIGHT_NAMESPACE
