// SPDX-License-Identifier: Apache-2.0
// SegmentGather (onnxseq.internal 1): Gather of each element of a packed value along its ragged axis, the indices the
// same for all; negative ones count from the end of each element. The results have one shape: a stacked value.
// segments.h has the words.
#include <fmt/format.h>

#include "ops/internal/internal_domain.h"
#include "ops/internal/segments.h"
#include "ops/tensor/indices.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const Shape packed = ctx.tensor(0).shape();
  const int axis = NormalizeAxis(ctx, ctx.attrs().Int("axis"), packed.rank());
  const Segments segments = ReadSegments(ctx, 1);
  CheckFilled(ctx, segments, 1, 0, axis);
  const std::vector<int64_t> indices = ReadIntegers(ctx.tensor(2));
  const AxisView view = ViewAlong(packed, axis);
  Shape shape{segments.count()};
  for (int d = 0; d < axis; ++d) shape.push_back(packed[d]);
  for (const int64_t d : ctx.tensor(2).shape()) shape.push_back(d);
  for (int d = axis + 1; d < packed.rank(); ++d) shape.push_back(packed[d]);
  for (int64_t e = 0; e < segments.count(); ++e) {
    const int64_t n = segments.length(e);
    for (size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] < -n || indices[i] >= n)
        ctx.FailInput(2, fmt::format("index {} is {}, outside element {}, which has {} along axis {}", i, indices[i], e,
                                     n, axis));
    }
  }
  const auto count = std::ssize(indices);
  GatherSegments(ctx, view.inner, std::move(shape), [&](int64_t first, std::span<int64_t> into) {
    for (int64_t& offset : into) {
      const int64_t index = indices[static_cast<size_t>(first % count)], o = first / count % view.outer,
                    e = first / count / view.outer;
      offset = (o * view.n + segments.start(e) + (index < 0 ? index + segments.length(e) : index)) * view.inner;
      ++first;
    }
  });
}

void ShapeRule(InferScope& scope) {
  const OptimShape& packed = scope.InputShape(0);
  const OptimShape& indices = scope.InputShape(2);
  OptimShape shape{SegmentCount(scope, 1)};
  if (packed.IsUnknown()) return SetLikeInput(scope, 0, OptimShape::Unknown());
  const auto axis =
      static_cast<size_t>(scope.NormalizeAxis(scope.attrs().Int("axis"), static_cast<int>(packed.Rank())));
  if (indices.IsUnknown()) return SetLikeInput(scope, 0, OptimShape::Unknown());
  for (size_t d = 0; d < axis; ++d) shape.PushBack(packed[d]);
  for (const OptimDim& d : indices) shape.PushBack(d);
  for (size_t d = axis + 1; d < packed.Rank(); ++d) shape.PushBack(packed[d]);
  SetLikeInput(scope, 0, std::move(shape));
}

}  // namespace

std::span<const OpDef> segment_gather_ops() {
  static const OpDef ops[] = {
      {.domain = kInternalDomain,
       .type = "SegmentGather",
       .since_version = 1,
       .inputs = {{"packed", kAllTypes, "T"}, kLengthsFormal, {"indices", kIndexTypes, "Tind"}},
       .outputs = {{"stacked", kAllTypes, "T"}},
       .attributes = {{"axis", AttrKind::kInt, true}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
