// SPDX-License-Identifier: Apache-2.0
// ScatterElements: the data with each update stored at its index along the axis, at its own place along the other axes,
// in order; with a reduction (version 16 add and mul, 18 min and max) combined with what is there.
// https://onnx.ai/onnx/operators/onnx__ScatterElements.html
#include <fmt/format.h>

#include "ops/tensor/indices.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

template <bool kReduces, bool kExtremes>
void Run(RunContext& ctx) {
  const Shape data = ctx.tensor(0).shape();
  const kernels::ScatterReduction reduction =
      kReduces ? ReadReduction(ctx, ctx.tensor(0).dtype(), kExtremes) : kernels::ScatterReduction::kNone;
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

std::span<const OpDef> scatter_elements_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "ScatterElements",
       .since_version = 11,
       .inputs = {{"data", kAllTypes, "T"}, {"indices", kIndexTypes, "Tind"}, {"updates", kAllTypes, "T"}},
       .outputs = {{"output", kAllTypes, "T"}},
       .attributes = {{"axis", AttrKind::kInt}},
       .shape = ShapeRule,
       .run = Run<false, false>},
      {.domain = "",
       .type = "ScatterElements",
       .since_version = 16,
       .inputs = {{"data", kAllTypes, "T"}, {"indices", kIndexTypes, "Tind"}, {"updates", kAllTypes, "T"}},
       .outputs = {{"output", kAllTypes, "T"}},
       .attributes = {{"axis", AttrKind::kInt}, {"reduction", AttrKind::kString}},
       .shape = ShapeRule,
       .run = Run<true, false>},
      {.domain = "",
       .type = "ScatterElements",
       .since_version = 18,
       .inputs = {{"data", kAllTypes, "T"}, {"indices", kIndexTypes, "Tind"}, {"updates", kAllTypes, "T"}},
       .outputs = {{"output", kAllTypes, "T"}},
       .attributes = {{"axis", AttrKind::kInt}, {"reduction", AttrKind::kString}},
       .shape = ShapeRule,
       .run = Run<true, true>},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
