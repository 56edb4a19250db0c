// SPDX-License-Identifier: Apache-2.0
// RMSNormalization: the axes from `axis` on divided together by the root of their mean square, then times scale, which
// broadcasts to the input; the result has the type of the scale.
// https://onnx.ai/onnx/operators/onnx__RMSNormalization.html
#include "kernels/cast/cast.h"
#include "ops/nn/norm_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  const TensorType type = ctx.tensor(1).dtype();
  const RowSplit split = SplitAtAxis(ctx, x.shape());
  ChannelMoments moments = MomentsOf(ctx, x, 1, split.rows, split.row);
  for (size_t r = 0; r < moments.mean.size(); ++r) {
    moments.variance[r] += moments.mean[r] * moments.mean[r];
    moments.mean[r] = 0;
  }
  Tensor y(x.dtype(), x.shape());
  NormalizeInto(ctx, x, y, 1, split.rows, split.row, moments.mean,
                InverseDeviation(moments.variance, ctx.attrs().Float("epsilon", 1e-5f)));
  if (type != x.dtype()) {
    Tensor cast(type, x.shape());
    kernels::Cast(y.data(), x.dtype(), cast.mutable_data(), type, y.NumElements());
    y = std::move(cast);
  }
  CombineWith(ctx, y, 1, true);
  ctx.SetOutput(0, std::move(y));
}

void ShapeRule(InferScope& scope) {
  const OptimShape& shape = scope.InputShape(0);
  if (!shape.IsUnknown()) scope.NormalizeAxis(scope.attrs().Int("axis", -1), static_cast<int>(shape.Rank()));
  scope.SetTensor(0, scope.InputType(1), shape);
}

}  // namespace

std::span<const OpDef> rms_normalization_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "RMSNormalization",
       .since_version = 23,
       .inputs = {{"X", kFloatTypes, "T"}, {"scale", kFloatTypes, "V"}},
       .outputs = {{"Y", kFloatTypes, "V"}},
       .attributes = {{"axis", AttrKind::kInt}, {"epsilon", AttrKind::kFloat}, {"stash_type", AttrKind::kInt}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
