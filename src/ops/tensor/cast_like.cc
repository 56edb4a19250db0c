// SPDX-License-Identifier: Apache-2.0
// CastLike: Cast to the element type of the second input.
// https://onnx.ai/onnx/operators/onnx__CastLike.html
#include "ops/tensor/cast_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) { RunCast(ctx, ctx.tensor(1).dtype()); }

void ShapeRule(InferScope& scope) { CastShape(scope, scope.InputType(1)); }

}  // namespace

std::span<const OpDef> cast_like_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "CastLike",
       .since_version = 15,
       .inputs = {{"input", kCastTypes, "T1"}, {"target_type", kCastTypes, "T2"}},
       .outputs = {{"output", kCastTypes, "T2"}},
       .attributes = {{"saturate", AttrKind::kInt}, {"round_mode", AttrKind::kString}},
       .shape = ShapeRule,
       .prepare = PrepareCast,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
