// SPDX-License-Identifier: Apache-2.0
// SegmentRepeat (onnxseq.internal 1): each element of a stacked value, of size 1 along `axis`, as often after itself
// along it as `lengths` says: a packed value. segments.h has the words.
#include <fmt/format.h>

#include "ops/internal/internal_domain.h"
#include "ops/internal/segments.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  Shape shape = ctx.tensor(0).shape();
  const int axis = NormalizeAxis(ctx, ctx.attrs().Int("axis"), shape.rank() - 1);
  const Segments segments = ReadSegments(ctx, 1);
  CheckStacked(ctx, segments, 1, 0);
  shape.erase(0);
  if (shape[axis] != 1) ctx.FailInput(0, fmt::format("dim {} must be 1, got {}", axis + 1, ctx.tensor(0).TypeString()));
  const AxisView view = ViewAlong(shape, axis);
  shape[axis] = segments.total();
  GatherSegments(ctx, view.inner, std::move(shape), [&](int64_t first, std::span<int64_t> into) {
    int64_t o = first / segments.total(), place = first % segments.total();
    int64_t e = segments.At(place);
    for (int64_t& offset : into) {
      while (place >= segments.start(e + 1)) ++e;
      offset = (e * view.outer + o) * view.inner;
      if (++place < segments.total()) continue;
      place = e = 0;
      ++o;
    }
  });
}

void ShapeRule(InferScope& scope) {
  const OptimShape stacked = scope.InputShape(0);
  const OptimDim n = SegmentCount(scope, 1);
  if (stacked.IsUnknown()) return SetLikeInput(scope, 0, OptimShape::Unknown());
  const auto axis =
      static_cast<size_t>(scope.NormalizeAxis(scope.attrs().Int("axis"), static_cast<int>(stacked.Rank()) - 1));
  scope.Unify(stacked[0], n, "the elements of " + scope.InputSubject(0), "those of " + scope.InputSubject(1));
  scope.Unify(stacked[axis + 1], 1, fmt::format("dim {} of {}", axis + 1, scope.InputSubject(0)), "what is repeated");
  const std::optional<std::vector<OptimDim>> lengths = scope.InputValue(1);
  OptimShape shape;
  for (size_t d = 1; d < stacked.Rank(); ++d) {
    if (d != axis + 1) {
      shape.PushBack(stacked[d]);
    } else {
      shape.PushBack(lengths ? onnx_optim::Sum(*lengths) : scope.Fresh("sum"));
    }
  }
  SetLikeInput(scope, 0, std::move(shape));
}

}  // namespace

std::span<const OpDef> segment_repeat_ops() {
  static const OpDef ops[] = {
      {.domain = kInternalDomain,
       .type = "SegmentRepeat",
       .since_version = 1,
       .inputs = {{"stacked", kAllTypes, "T"}, kLengthsFormal},
       .outputs = {{"packed", kAllTypes, "T"}},
       .attributes = {{"axis", AttrKind::kInt, true}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
