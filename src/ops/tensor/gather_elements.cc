// SPDX-License-Identifier: Apache-2.0
// GatherElements: for each index one element of the data: at the index along the axis, at the same place along the
// other axes. An index counts from the back when negative.
// https://onnx.ai/onnx/operators/onnx__GatherElements.html
#include <fmt/format.h>

#include <cstddef>

#include "ops/tensor/indices.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const Tensor data = ctx.tensor(0);
  const int axis = NormalizeAxis(ctx, ctx.attrs().Int("axis", 0), data.rank());
  Tensor out(data.dtype(), ctx.tensor(1).shape());
  auto* const to = static_cast<std::byte*>(out.mutable_data());
  const size_t size = onnx_optim::BytesOf(data.dtype());
  ForEachIndexRow(ctx, 1, data.shape(), axis, [&](int64_t first, int64_t base, const kernels::IndexRow& row) {
    return kernels::GatherIndexed(data.dtype(), data.data(), base, row, to + static_cast<size_t>(first) * size);
  });
  ctx.SetOutput(0, std::move(out));
}

void ShapeRule(InferScope& scope) {
  const OptimShape& data = scope.InputShape(0);
  const OptimShape& indices = scope.InputShape(1);
  if (!data.IsUnknown()) {
    const int axis = scope.NormalizeAxis(scope.attrs().Int("axis", 0), static_cast<int>(data.Rank()));
    if (!indices.IsUnknown() && indices.Rank() != data.Rank())
      scope.Fail(scope.InputSubject(1), fmt::format("has rank {}, the data has rank {}", indices.Rank(), data.Rank()));
    CheckKnownIndices(scope, 1, data[static_cast<size_t>(axis)]);
  }
  SetLikeInput(scope, 0,
               indices.IsUnknown() && !data.IsUnknown() ? scope.FreshShape(static_cast<int>(data.Rank())) : indices);
}

}  // namespace

std::span<const OpDef> gather_elements_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "GatherElements",
       .since_version = 11,
       .inputs = {{"data", kAllTypes, "T"}, {"indices", kIndexTypes, "Tind"}},
       .outputs = {{"output", kAllTypes, "T"}},
       .attributes = {{"axis", AttrKind::kInt}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
