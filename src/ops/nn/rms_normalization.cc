// SPDX-License-Identifier: Apache-2.0
// RMSNormalization: the axes from `axis` on divided together by the root of their mean square, then times scale, which
// broadcasts to the input; the result has the type of the scale.
// https://onnx.ai/onnx/operators/onnx__RMSNormalization.html
#include "ops/nn/norm_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) { NormalizeByRootMeanSquare(ctx); }

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
