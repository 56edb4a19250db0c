// SPDX-License-Identifier: Apache-2.0
// Unsqueeze: inserts axes of one element; they are positions in the result. An attribute before version 13, an input
// from then on. https://onnx.ai/onnx/operators/onnx__Unsqueeze.html
#include "ops/tensor/view_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const bool is_input = ctx.op().inputs.size() > 1;
  const std::vector<int64_t> axes = is_input ? ReadInts(ctx, 1) : ctx.attrs().Ints("axes");
  const Shape in = ctx.tensor(0).shape();
  const int rank = in.rank() + static_cast<int>(axes.size());
  std::vector<char> inserted(static_cast<size_t>(rank));
  for (const int axis : NormalizeAxes(ctx, axes, rank, is_input ? ctx.InputSubject(1) : "attribute 'axes'"))
    inserted[static_cast<size_t>(axis)] = 1;
  Shape shape;
  int from = 0;
  for (const char one : inserted) shape.push_back(one != 0 ? 1 : in[from++]);
  SetView(ctx, std::move(shape));
}

void ShapeRule(InferScope& scope) {
  const OptimShape& in = scope.InputShape(0);
  const IntsArgument axes = ReadIntsArgument(scope, "axes", scope.input_size() > 1 ? 1 : -1);
  constexpr auto kMaxRank = static_cast<int64_t>(OptimShape::kMaxRank);
  if (in.IsUnknown() || !axes.count || static_cast<int64_t>(in.Rank()) + *axes.count > kMaxRank)
    return SetLikeInput(scope, 0, OptimShape::Unknown());
  const int rank = static_cast<int>(in.Rank()) + static_cast<int>(*axes.count);
  if (!axes.values) return SetLikeInput(scope, 0, scope.FreshShape(rank));
  std::vector<char> inserted(static_cast<size_t>(rank));
  for (const int axis : NormalizeAxes(scope, *axes.values, rank, axes.subject)) inserted[static_cast<size_t>(axis)] = 1;
  OptimShape shape;
  size_t from = 0;
  for (const char one : inserted) shape.PushBack(one != 0 ? OptimDim(1) : in[from++]);
  SetViewShape(scope, shape);
}

}  // namespace

std::span<const OpDef> unsqueeze_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "Unsqueeze",
       .since_version = 1,
       .inputs = {{"data", kAllTypes, "T"}},
       .outputs = {{"expanded", kAllTypes, "T"}},
       .attributes = {{"axes", AttrKind::kInts, true}},
       .shape = ShapeRule,
       .run = Run},
      {.domain = "",
       .type = "Unsqueeze",
       .since_version = 13,
       .inputs = {{"data", kAllTypes, "T"}, {"axes", {TensorType::kInt64}}},
       .outputs = {{"expanded", kAllTypes, "T"}},
       .attributes = {},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
