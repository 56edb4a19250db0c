// SPDX-License-Identifier: Apache-2.0
#include "ops/unified_size.h"

#include <fmt/format.h>

#include <utility>

namespace ONNX_LIGHT_NAMESPACE {

void CheckRank(const RunContext& ctx, int i, int rank) {
  if (ctx.tensor(i).rank() != rank)
    ctx.FailInput(i, fmt::format("must have rank {}, got {}", rank, ctx.tensor(i).TypeString()));
}

const OptimShape* RankedInput(const InferScope& scope, int i, int rank) {
  if (!scope.HasInput(i) || scope.InputShape(i).IsUnknown()) return nullptr;
  const OptimShape& shape = scope.InputShape(i);
  if (shape.Rank() != static_cast<size_t>(rank))
    scope.Fail(scope.InputSubject(i),
               fmt::format("must have rank {}, got {}", rank, InferScope::Describe(scope.Input(i))));
  return &shape;
}

std::string DimSubject(const InferScope& scope, int i, int axis) {
  return fmt::format("dim {} of {}", axis, scope.InputSubject(i));
}

void UnifiedSize::Add(InferScope& scope, const OptimDim& dim, std::string subject) {
  if (dim_) {
    dim_ = scope.Unify(*dim_, dim, subject_, subject);
  } else {
    dim_ = dim;
    subject_ = std::move(subject);
  }
}

const OptimDim& UnifiedSize::Get(InferScope& scope, std::string_view hint) {
  if (!dim_) dim_ = scope.Fresh(hint);
  return *dim_;
}

}  // namespace ONNX_LIGHT_NAMESPACE
