// SPDX-License-Identifier: Apache-2.0
// Compress: the slices along an axis (without one: the elements in order) for which the condition holds. The condition
// may be shorter than the axis; what is beyond it is left out.
// https://onnx.ai/onnx/operators/onnx__Compress.html
#include <fmt/format.h>

#include <algorithm>

#include "kernels/indexed/indexed.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0), condition = ctx.tensor(1);
  if (condition.rank() != 1) ctx.FailInput(1, fmt::format("must be a vector, got {}", condition.TypeString()));
  const bool flat = !ctx.attrs().Has("axis");
  const int axis = flat ? 0 : NormalizeAxis(ctx, ctx.attrs().Int("axis", 0), x.rank());
  const std::span<const int64_t> dims = x.shape().dims();
  const int64_t n = flat ? x.NumElements() : x.dim(axis);
  const int64_t outer = flat ? 1 : DimsProduct(dims, 0, axis), inner = flat ? 1 : DimsProduct(dims, axis + 1, x.rank());
  std::vector<int64_t> kept;
  const std::span<const bool> holds = condition.View<bool>();
  for (size_t i = 0; i < holds.size(); ++i) {
    if (!holds[i]) continue;
    if (static_cast<int64_t>(i) >= n)
      ctx.FailInput(1, fmt::format("element {} is true, but there are {} to choose from", i, n));
    kept.push_back(static_cast<int64_t>(i));
  }
  Shape shape = flat ? Shape{0} : x.shape();
  shape[axis] = static_cast<int64_t>(kept.size());
  Tensor& y = ctx.AllocateOutput(0, x.dtype(), std::move(shape));
  if (y.NumElements() == 0) return;
  std::vector<int64_t> offsets;
  for (int64_t o = 0; o < outer; ++o)
    for (const int64_t i : kept) offsets.push_back((o * n + i) * inner);
  kernels::GatherRows(x.dtype(), x.data(), offsets, inner, y.mutable_data());
}

void ShapeRule(InferScope& scope) {
  const OptimShape& x = scope.InputShape(0);
  const OptimShape& condition = scope.InputShape(1);
  const bool flat = !scope.attrs().Has("axis");
  if (x.IsUnknown() && !flat) return SetLikeInput(scope, 0, OptimShape::Unknown());
  const int axis = flat ? 0 : scope.NormalizeAxis(scope.attrs().Int("axis", 0), static_cast<int>(x.Rank()));
  OptimDim kept;
  if (const std::optional<std::vector<int64_t>> known = scope.InputInts(1)) {
    kept = static_cast<int64_t>(std::ranges::count_if(*known, [](int64_t holds) { return holds != 0; }));
  } else {
    std::vector<OptimDim> limits;
    if (!x.IsUnknown())
      limits.push_back(flat ? onnx_optim::Product({x.begin(), x.end()}) : x[static_cast<size_t>(axis)]);
    if (!condition.IsUnknown() && condition.Rank() == 1) limits.push_back(condition[0]);
    kept = limits.empty() ? scope.Fresh("kept") : scope.context().FreshDim("kept", 0, onnx_optim::Min(limits));
  }
  OptimShape shape = flat ? OptimShape{OptimDim(0)} : x;
  shape[static_cast<size_t>(axis)] = kept;
  SetLikeInput(scope, 0, std::move(shape));
}

}  // namespace

std::span<const OpDef> compress_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "Compress",
       .since_version = 9,
       .inputs = {{"input", kAllTypes, "T"}, {"condition", kBoolType}},
       .outputs = {{"output", kAllTypes, "T"}},
       .attributes = {{"axis", AttrKind::kInt}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
