// SPDX-License-Identifier: Apache-2.0
// SegmentSoftmax (onnxseq.internal 1): Softmax, or LogSoftmax with `log`, of each element of a packed value along its
// ragged axis. segments.h has the words.
#include "ops/internal/internal_domain.h"
#include "ops/internal/segments.h"
#include "ops/math/softmax_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const Shape& shape = ctx.tensor(0).shape();
  const int axis = NormalizeAxis(ctx, ctx.attrs().Int("axis"), shape.rank());
  const Segments segments = ReadSegments(ctx, 1);
  CheckFilled(ctx, segments, 1, 0, axis);
  const AxisView view = ViewAlong(shape, axis);
  RunSoftmax(ctx, view.outer, segments.starts, view.inner, ctx.attrs().Int("log", 0) != 0);
}

void ShapeRule(InferScope& scope) {
  const OptimShape& shape = scope.InputShape(0);
  if (!shape.IsUnknown()) scope.NormalizeAxis(scope.attrs().Int("axis"), static_cast<int>(shape.Rank()));
  SegmentCount(scope, 1);
  SetLikeInput(scope, 0, shape);
}

}  // namespace

std::span<const OpDef> segment_softmax_ops() {
  static const OpDef ops[] = {
      {.domain = kInternalDomain,
       .type = "SegmentSoftmax",
       .since_version = 1,
       .inputs = {{"input", kFloatTypes, "T"}, kLengthsFormal},
       .outputs = {{"output", kFloatTypes, "T"}},
       .attributes = {{"axis", AttrKind::kInt, true}, {"log", AttrKind::kInt}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
