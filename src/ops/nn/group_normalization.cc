// SPDX-License-Identifier: Apache-2.0
// GroupNormalization: the channels (axis 1) in num_groups groups, each group of each instance normalised to mean 0 and
// variance 1, then times scale, plus bias: one for each group before version 21, for each channel from then on. Written
// as nodes of other operators; halves are summed as these do, whatever stash_type says.
// https://onnx.ai/onnx/operators/onnx__GroupNormalization.html
#include <fmt/format.h>

#include "graph/node_attributes.h"
#include "ops/op_def.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Groups(const NodeProto& node) {
  const int64_t groups = NodeAttributes(node).Int("num_groups");
  if (groups < 1) FailAttribute("num_groups", fmt::format("is {}, must be 1 or more", groups));
  return fmt::format(R"(
  shape = Shape (X)
  instances = Shape <start: int = 0, end: int = 1> (X)
  channel_count = Shape <start: int = 1, end: int = 2> (X)
  of_channel = Shape <start: int = 2> (X)
  channel_size = ReduceProd <keepdims: int = 1> (of_channel)
  groups = Constant <value_ints: ints = [{}]> ()
  group_channels = Div (channel_count, groups)
  group_size = Mul (group_channels, channel_size)
  grouped_shape = Concat <axis: int = 0> (instances, groups, group_size)
  grouped = Reshape <allowzero: int = 1> (X, grouped_shape))",
                     groups);
}

std::string ByGroup(const NodeProto& node, int64_t /*opset*/) {
  return "<epsilon: float = 1e-5> (X, scale, bias) => (Y) {" + Groups(node) + R"(
  normalized = InstanceNormalization <epsilon: float = @epsilon> (grouped, scale, bias)
  Y = Reshape <allowzero: int = 1> (normalized, shape)
})";
}

std::string ByChannel(const NodeProto& node, int64_t /*opset*/) {
  return "<epsilon: float = 1e-5> (X, scale, bias) => (Y) {" + Groups(node) + R"(
  one = Constant <value: tensor = float[1] {1}> ()
  ones_float = Expand (one, groups)
  ones = CastLike (ones_float, X)
  zeros = Sub (ones, ones)
  normalized = InstanceNormalization <epsilon: float = @epsilon> (grouped, ones, zeros)
  by_channel = Concat <axis: int = 0> (instances, channel_count, channel_size)
  channels = Reshape <allowzero: int = 1> (normalized, by_channel)
  axis = Constant <value_ints: ints = [1]> ()
  scale_column = Unsqueeze (scale, axis)
  bias_column = Unsqueeze (bias, axis)
  scaled = Mul (channels, scale_column)
  shifted = Add (scaled, bias_column)
  Y = Reshape <allowzero: int = 1> (shifted, shape)
})";
}

OpDef VersionOf(int since, std::vector<AttrDef> attributes, std::string (*body)(const NodeProto&, int64_t)) {
  return {.domain = "",
          .type = "GroupNormalization",
          .since_version = since,
          .inputs = {{"X", kFloatTypes, "T"}, {"scale", kFloatTypes, "T"}, {"bias", kFloatTypes, "T"}},
          .outputs = {{"Y", kFloatTypes, "T"}},
          .attributes = std::move(attributes),
          .body = body};
}

}  // namespace

std::span<const OpDef> group_normalization_ops() {
  static const OpDef ops[] = {
      VersionOf(18, {{"epsilon", AttrKind::kFloat}, {"num_groups", AttrKind::kInt, true}}, ByGroup),
      VersionOf(21,
                {{"epsilon", AttrKind::kFloat}, {"num_groups", AttrKind::kInt, true}, {"stash_type", AttrKind::kInt}},
                ByChannel),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
