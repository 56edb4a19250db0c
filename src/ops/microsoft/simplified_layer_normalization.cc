// SPDX-License-Identifier: Apache-2.0
// SimplifiedLayerNormalization: RMSNormalization as onnxruntime's optimizer writes it, in the domain of ai.onnx; the
// inverse of the root of the mean square is an output, too, as float.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include "kernels/cast/cast.h"
#include "ops/microsoft/microsoft_op.h"
#include "ops/nn/norm_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const std::vector<double> inverse = NormalizeByRootMeanSquare(ctx);
  if (!ctx.HasOutput(1)) return;
  Shape kept = ctx.tensor(0).shape();
  for (int d = SplitAtAxis(ctx, kept).axis; d < kept.rank(); ++d) kept[d] = 1;
  Tensor& t = ctx.AllocateOutput(1, TensorType::kFloat, kept);
  kernels::Cast(inverse.data(), TensorType::kDouble, t.mutable_data(), TensorType::kFloat, t.NumElements());
}

void ShapeRule(InferScope& scope) {
  OptimShape shape = scope.InputShape(0);
  scope.SetTensor(0, scope.InputType(1), shape);
  if (!shape.IsUnknown()) {
    const int axis = scope.NormalizeAxis(scope.attrs().Int("axis", -1), static_cast<int>(shape.Rank()));
    for (size_t d = static_cast<size_t>(axis); d < shape.Rank(); ++d) shape[d] = OptimDim(1);
  }
  scope.SetTensor(1, TensorType::kFloat, shape);
}

}  // namespace

std::span<const OpDef> simplified_layer_normalization_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "SimplifiedLayerNormalization",
       .since_version = 1,
       .inputs = {{"X", kFloatTypes, "T"}, {"scale", kFloatTypes, "V"}},
       .outputs = {{"Y", kFloatTypes, "V"}, Optional("inv_std_var", kFloat32, "U")},
       .attributes = {{"axis", AttrKind::kInt}, {"epsilon", AttrKind::kFloat}, {"stash_type", AttrKind::kInt}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
