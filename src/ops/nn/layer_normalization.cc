// SPDX-License-Identifier: Apache-2.0
// LayerNormalization: the axes from `axis` on normalised together to mean 0 and variance 1, then times scale, plus
// bias, which broadcast to the input. Mean and 1 / deviation are outputs, too, as float (stash_type 1) or bfloat16
// (16). https://onnx.ai/onnx/operators/onnx__LayerNormalization.html
#include <fmt/format.h>

#include "kernels/cast/cast.h"
#include "ops/nn/norm_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

TensorType StashType(const NodeAttributes& attrs) {
  const int64_t type = attrs.Int("stash_type", 1);
  if (type != 1 && type != 16) FailAttribute("stash_type", fmt::format("is {}, must be 1 or 16", type));
  return onnx_optim::DataTypeToTensorType(static_cast<int32_t>(type));
}

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  const TensorType stash = StashType(ctx.attrs());
  const RowSplit split = SplitAtAxis(ctx, x.shape());
  const ChannelMoments moments = MomentsOf(ctx, x, 1, split.rows, split.row);
  const std::vector<double> inverse = InverseDeviation(moments.variance, ctx.attrs().Float("epsilon", 1e-5f));
  Tensor y(x.dtype(), x.shape());
  NormalizeScaledInto(ctx, x, y, split.rows, split.row, moments.mean, inverse, 1, ctx.HasInput(2) ? 2 : -1);
  ctx.SetOutput(0, std::move(y));
  Shape kept = x.shape();
  for (int d = split.axis; d < kept.rank(); ++d) kept[d] = 1;
  const auto give = [&](int i, const std::vector<double>& values) {
    if (!ctx.HasOutput(i)) return;
    Tensor& t = ctx.AllocateOutput(i, stash, kept);
    kernels::Cast(values.data(), TensorType::kDouble, t.mutable_data(), stash, split.rows);
  };
  give(1, moments.mean);
  give(2, inverse);
}

void ShapeRule(InferScope& scope) {
  const TensorType stash = StashType(scope.attrs());
  OptimShape shape = scope.InputShape(0);
  SetLikeInput(scope, 0, shape);
  if (!shape.IsUnknown()) {
    const int axis = scope.NormalizeAxis(scope.attrs().Int("axis", -1), static_cast<int>(shape.Rank()));
    for (size_t d = static_cast<size_t>(axis); d < shape.Rank(); ++d) shape[d] = OptimDim(1);
  }
  scope.SetTensor(1, stash, shape);
  scope.SetTensor(2, stash, shape);
}

constexpr TypeSet kStashTypes{TensorType::kFloat, TensorType::kBfloat16};

OpDef VersionOf(int since) {
  return {.domain = "",
          .type = "LayerNormalization",
          .since_version = since,
          .inputs = {{"X", kFloatTypes, "T"},
                     {"Scale", kFloatTypes, "T"},
                     {.name = "B", .types = kFloatTypes, .type_var = "T", .count = FormalCount::kOptional}},
          .outputs = {{"Y", kFloatTypes, "T"},
                      {.name = "Mean", .types = kStashTypes, .type_var = "U", .count = FormalCount::kOptional},
                      {.name = "InvStdDev", .types = kStashTypes, .type_var = "U", .count = FormalCount::kOptional}},
          .attributes = {{"axis", AttrKind::kInt}, {"epsilon", AttrKind::kFloat}, {"stash_type", AttrKind::kInt}},
          .shape = ShapeRule,
          .run = Run};
}

}  // namespace

std::span<const OpDef> layer_normalization_ops() {
  // onnxruntime's optimizer writes it into models of any operator set.
  static const OpDef ops[] = {VersionOf(1), VersionOf(17)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
