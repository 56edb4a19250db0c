// SPDX-License-Identifier: Apache-2.0
// Scatter: the former name of ScatterElements, without reductions; deprecated from version 11 on.
// https://onnx.ai/onnx/operators/onnx__Scatter.html
#include <fmt/format.h>

#include "ops/tensor/indices.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const Shape data = ctx.tensor(0).shape();
  const kernels::ScatterReduction reduction = kernels::ScatterReduction::kNone;
  const int axis = NormalizeAxis(ctx, ctx.attrs().Int("axis", 0), data.rank());
  if (ctx.tensor(2).shape() != ctx.tensor(1).shape()) {
    ctx.FailInput(2, fmt::format("shape {} is not {}, that of the indices", ctx.tensor(2).shape().ToString(),
                                 ctx.tensor(1).shape().ToString()));
  }
  RunScatter(ctx, reduction, ElementOffsets(ctx, 1, data, axis), 1);
}

void ShapeRule(InferScope& scope) {
  const OptimShape& data = scope.InputShape(0);
  if (!data.IsUnknown()) {
    const int axis = scope.NormalizeAxis(scope.attrs().Int("axis", 0), static_cast<int>(data.Rank()));
    CheckKnownIndices(scope, 1, data[static_cast<size_t>(axis)]);
  }
  ScatterShape(scope);
}

}  // namespace

std::span<const OpDef> scatter_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "Scatter",
       .since_version = 9,
       .inputs = {{"data", kAllTypes, "T"}, {"indices", kIndexTypes, "Tind"}, {"updates", kAllTypes, "T"}},
       .outputs = {{"output", kAllTypes, "T"}},
       .attributes = {{"axis", AttrKind::kInt}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
