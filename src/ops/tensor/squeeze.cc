// SPDX-License-Identifier: Apache-2.0
// Squeeze: drops the given axes, which must be of one element; without axes all such. Axes are an attribute before
// version 13, an input from then on. https://onnx.ai/onnx/operators/onnx__Squeeze.html
#include <fmt/format.h>

#include <algorithm>

#include "ops/tensor/view_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

bool AxesAreInput(const OpDef& op) { return op.inputs.size() > 1; }

void Run(RunContext& ctx) {
  const Shape in = ctx.tensor(0).shape();
  const bool given = AxesAreInput(ctx.op()) ? ctx.HasInput(1) : ctx.attrs().Has("axes");
  std::vector<char> dropped(static_cast<size_t>(in.rank()));
  if (given) {
    const std::vector<int64_t> axes = AxesAreInput(ctx.op()) ? ReadInts(ctx, 1) : ctx.attrs().Ints("axes");
    const std::string subject = AxesAreInput(ctx.op()) ? ctx.InputSubject(1) : "attribute 'axes'";
    for (const int axis : NormalizeAxes(ctx, axes, in.rank(), subject)) {
      if (in[axis] != 1)
        ctx.Fail(subject, fmt::format("axis {} of {} has {} elements, not one", axis, in.ToString(), in[axis]));
      dropped[static_cast<size_t>(axis)] = 1;
    }
  }
  Shape shape;
  for (int d = 0; d < in.rank(); ++d)
    if (given ? dropped[static_cast<size_t>(d)] == 0 : in[d] != 1) shape.push_back(in[d]);
  SetView(ctx, std::move(shape));
}

void ShapeRule(InferScope& scope) {
  const OptimShape& in = scope.InputShape(0);
  const IntsArgument axes = ReadIntsArgument(scope, "axes", scope.input_size() > 1 ? 1 : -1);
  if (in.IsUnknown()) return SetLikeInput(scope, 0, OptimShape::Unknown());
  const auto rank = static_cast<int>(in.Rank());
  OptimShape shape;
  if (axes.given) {
    if (!axes.values) {
      const bool counted = axes.count && *axes.count <= rank;
      return SetLikeInput(scope, 0,
                          counted ? scope.FreshShape(rank - static_cast<int>(*axes.count)) : OptimShape::Unknown());
    }
    std::vector<char> dropped(static_cast<size_t>(rank));
    for (const int axis : NormalizeAxes(scope, *axes.values, rank, axes.subject)) {
      const OptimDim& dim = in[static_cast<size_t>(axis)];
      if (dim.IsInt() && dim.AsInt() != 1)
        scope.Fail(axes.subject,
                   fmt::format("axis {} of {} has {} elements, not one", axis, in.ToString(), dim.AsInt()));
      scope.Unify(dim, 1, fmt::format("axis {} of {}", axis, scope.InputSubject(0)), "a squeezed axis");
      dropped[static_cast<size_t>(axis)] = 1;
    }
    for (size_t d = 0; d < dropped.size(); ++d)
      if (dropped[d] == 0) shape.PushBack(in[d]);
  } else {
    for (const OptimDim& dim : in) {
      // A dim that may or may not be 1 may or may not be dropped.
      if (!dim.IsInt() && !scope.context().ProvablyDifferent(dim, 1))
        return SetLikeInput(scope, 0, OptimShape::Unknown());
      if (dim != OptimDim(1)) shape.PushBack(dim);
    }
  }
  SetViewShape(scope, shape);
}

}  // namespace

std::span<const OpDef> squeeze_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "Squeeze",
       .since_version = 1,
       .inputs = {{"data", kAllTypes, "T"}},
       .outputs = {{"squeezed", kAllTypes, "T"}},
       .attributes = {{"axes", AttrKind::kInts}},
       .shape = ShapeRule,
       .run = Run},
      {.domain = "",
       .type = "Squeeze",
       .since_version = 13,
       .inputs = {{"data", kAllTypes, "T"},
                  {.name = "axes", .types = {TensorType::kInt64}, .count = FormalCount::kOptional}},
       .outputs = {{"squeezed", kAllTypes, "T"}},
       .attributes = {},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
