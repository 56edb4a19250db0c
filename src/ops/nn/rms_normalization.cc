// SPDX-License-Identifier: Apache-2.0
// RMSNormalization: the axes from `axis` on divided together by the root of their mean square, then times scale, which
// broadcasts to the input; the result has the type of the scale.
// https://onnx.ai/onnx/operators/onnx__RMSNormalization.html
#include <algorithm>

#include "kernels/cast/cast.h"
#include "kernels/normalize/normalize.h"
#include "ops/nn/norm_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  const TensorType type = ctx.tensor(1).dtype();
  const RowSplit split = SplitAtAxis(ctx, x.shape());
  std::vector<double> squares(static_cast<size_t>(split.rows));
  const int64_t grain = std::max<int64_t>(1, kElementGrain / std::max<int64_t>(1, split.row));
  ctx.ParallelFor(split.rows, grain, [&](int64_t begin, int64_t end) {
    kernels::MeanSquares(x.dtype(), x.data(), split.row, squares.data(), begin, end);
  });
  Tensor y(x.dtype(), x.shape());
  NormalizeInto(ctx, x, y, 1, split.rows, split.row, std::vector<double>(squares.size()),
                InverseDeviation(squares, ctx.attrs().Float("epsilon", 1e-5f)));
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
