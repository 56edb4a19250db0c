// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/global_pool_op.h"

#include <fmt/format.h>

#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void ShapeRule(InferScope& scope) {
  OptimShape shape = scope.InputShape(0);
  if (!shape.IsUnknown() && shape.Rank() < 2)
    scope.Fail(scope.InputSubject(0),
               fmt::format("must have rank 2 or more, got {}", InferScope::Describe(scope.Input(0))));
  for (size_t d = 2; !shape.IsUnknown() && d < shape.Rank(); ++d) shape[d] = OptimDim(1);
  SetLikeInput(scope, 0, std::move(shape));
}

}  // namespace

OpDef GlobalPoolOp(std::string_view type, int since, void (*run)(RunContext&), std::vector<AttrDef> attributes) {
  return {.domain = "",
          .type = type,
          .since_version = since,
          .inputs = {{"X", kFloatTypes, "T"}},
          .outputs = {{"Y", kFloatTypes, "T"}},
          .attributes = std::move(attributes),
          .shape = ShapeRule,
          .run = run};
}

Planes PlanesOf(const RunContext& ctx) {
  const Tensor& x = ctx.tensor(0);
  if (x.rank() < 2) ctx.FailInput(0, fmt::format("must have rank 2 or more, got {}", x.TypeString()));
  Shape shape = x.shape();
  for (int d = 2; d < shape.rank(); ++d) shape[d] = 1;
  return {x.dim(0) * x.dim(1), DimsProduct(x.shape().dims(), 2, x.rank()), std::move(shape)};
}

}  // namespace ONNX_LIGHT_NAMESPACE
