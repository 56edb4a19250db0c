// SPDX-License-Identifier: Apache-2.0
// LpNormalization: the elements along an axis divided by their norm, the sum of absolute values (p 1) or the root of
// the sum of squares (2). Where that is 0, so is the result. https://onnx.ai/onnx/operators/onnx__LpNormalization.html
#include <fmt/format.h>

#include "kernels/normalize/normalize.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  const int axis = NormalizeAxis(ctx, ctx.attrs().Int("axis", -1), x.rank());
  const int64_t p = ctx.attrs().Int("p", 2);
  if (p != 1 && p != 2) ctx.Fail("attribute 'p'", fmt::format("is {}, must be 1 or 2", p));
  const std::span<const int64_t> dims = x.shape().dims();
  Tensor& y = ctx.AllocateOutput(0, x.dtype(), x.shape());
  if (y.NumElements() == 0) return;  // any number of empty lines
  kernels::LpNormalize(x.dtype(), x.data(), y.mutable_data(), DimsProduct(dims, 0, axis), x.dim(axis),
                       DimsProduct(dims, axis + 1, x.rank()), static_cast<int>(p));
}

void ShapeRule(InferScope& scope) {
  const OptimShape& shape = scope.InputShape(0);
  if (!shape.IsUnknown()) scope.NormalizeAxis(scope.attrs().Int("axis", -1), static_cast<int>(shape.Rank()));
  SetLikeInput(scope, 0, shape);
}

}  // namespace

std::span<const OpDef> lp_normalization_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "LpNormalization",
       .since_version = 1,
       .inputs = {{"input", kFloatTypes, "T"}},
       .outputs = {{"output", kFloatTypes, "T"}},
       .attributes = {{"axis", AttrKind::kInt}, {"p", AttrKind::kInt}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
