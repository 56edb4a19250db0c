// SPDX-License-Identifier: Apache-2.0
// InstanceNormalization: each channel (axis 1) of each instance (axis 0) normalised to mean 0 and variance 1, then
// times scale, plus bias, both one for each channel. https://onnx.ai/onnx/operators/onnx__InstanceNormalization.html
#include <fmt/format.h>

#include "ops/nn/norm_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  if (x.rank() < 2) ctx.FailInput(0, fmt::format("must have rank 2 or more, got {}", x.TypeString()));
  const int64_t channels = x.dim(1), inner = DimsProduct(x.shape().dims(), 2, x.rank());
  const int64_t rows = x.NumElements() == 0 ? 0 : x.dim(0) * channels;
  const std::vector<double> scale = ReadChannels(ctx, 1, channels), bias = ReadChannels(ctx, 2, channels);
  const ChannelMoments moments = MomentsOf(ctx, x, 1, rows, inner);
  std::vector<double> factor = InverseDeviation(moments.variance, ctx.attrs().Float("epsilon", 1e-5f)), shift;
  for (size_t r = 0; r < factor.size(); ++r) {
    factor[r] *= scale[r % scale.size()];
    shift.push_back(bias[r % bias.size()]);
  }
  Tensor& y = ctx.AllocateOutput(0, x.dtype(), x.shape());
  NormalizeInto(ctx, x, y, 1, rows, inner, moments.mean, factor, shift);
}

void ShapeRule(InferScope& scope) {
  OptimShape shape = scope.InputShape(0);
  if (!shape.IsUnknown()) {
    if (shape.Rank() < 2)
      scope.Fail(scope.InputSubject(0),
                 fmt::format("must have rank 2 or more, got {}", InferScope::Describe(scope.Input(0))));
    for (int i = 1; i < 3; ++i) {
      const OptimShape& own = scope.InputShape(i);
      if (!own.IsUnknown() && own.Rank() == 1)
        shape[1] = scope.Unify(shape[1], own[0], "the channels of " + scope.InputSubject(0), scope.InputSubject(i));
    }
  }
  SetLikeInput(scope, 0, std::move(shape));
}

OpDef VersionOf(int since, std::vector<AttrDef> attributes) {
  return {.domain = "",
          .type = "InstanceNormalization",
          .since_version = since,
          .inputs = {{"input", kFloatTypes, "T"}, {"scale", kFloatTypes, "T"}, {"B", kFloatTypes, "T"}},
          .outputs = {{"output", kFloatTypes, "T"}},
          .attributes = std::move(attributes),
          .shape = ShapeRule,
          .run = Run};
}

}  // namespace

std::span<const OpDef> instance_normalization_ops() {
  static const OpDef ops[] = {
      VersionOf(1, {{"consumed_inputs", AttrKind::kInts}, {"epsilon", AttrKind::kFloat}}),
      VersionOf(6, {{"epsilon", AttrKind::kFloat}}),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
