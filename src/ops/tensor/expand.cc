// SPDX-License-Identifier: Apache-2.0
// Expand: the input broadcast with a shape, both ways: a dim of the result is that of either where the other is 1.
// https://onnx.ai/onnx/operators/onnx__Expand.html
#include <fmt/format.h>

#include <algorithm>

#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const Tensor in = ctx.tensor(0);
  std::vector<int64_t> target = ReadInts(ctx, 1);
  const std::string text = fmt::format("[{}]", fmt::join(target, ","));
  const auto rank = static_cast<size_t>(in.rank());
  if (target.size() < rank) target.insert(target.begin(), rank - target.size(), 1);
  const size_t lead = target.size() - rank;
  const std::vector<int64_t> dense = DenseStrides(in.shape().dims());
  std::vector<int64_t> strides(target.size());
  for (size_t d = 0; d < target.size(); ++d) {
    const int64_t own = d < lead ? 1 : in.dim(static_cast<int>(d - lead));
    if (target[d] < 0 || (target[d] != own && target[d] != 1 && own != 1))
      ctx.FailInput(1, fmt::format("{} does not broadcast with {}", text, in.shape().ToString()));
    if (own != 1) {
      target[d] = own;
      strides[d] = dense[d - lead];
    }
  }
  CopyStrided(ctx, in, 0, strides, Shape(target));
}

void ShapeRule(InferScope& scope) {
  const OptimShape& in = scope.InputShape(0);
  const std::optional<std::vector<OptimDim>> target = scope.InputValue(1);
  if (!target || target->size() > OptimShape::kMaxRank) {
    const std::optional<int> length = ListLength(scope.InputShape(1));
    if (in.IsUnknown() || !length) return SetLikeInput(scope, 0, OptimShape::Unknown());
    return SetLikeInput(scope, 0, scope.FreshShape(std::max(*length, static_cast<int>(in.Rank()))));
  }
  std::vector<OptimDim> dims = *target;
  for (OptimDim& dim : dims) {
    if (dim.IsInt() && dim.AsInt() < 0) scope.Fail(scope.InputSubject(1), fmt::format("{} is no dim", dim.AsInt()));
    if (!dim.IsInt() && !scope.context().ProvablyGreaterEqual(dim, 0)) dim = scope.Fresh();
  }
  const OptimShape shape = scope.Broadcast(in, OptimShape(std::move(dims)));
  SetLikeInput(scope, 0, shape);
  const KnownElements* elements = InputElements(scope, 0);
  if (elements == nullptr || shape.IsUnknown() || !shape.IsFullyKnown()) return;
  const bool small =
      std::all_of(shape.begin(), shape.end(), [](const OptimDim& d) { return d.AsInt() <= 1024; }) && shape.Rank() <= 2;
  if (!small || shape.NumElements() > static_cast<int64_t>(ShapeValue::kMaxKnownElements)) return;
  const auto n = static_cast<size_t>(shape.NumElements());
  if (elements->size() == n) {
    SetTensorWithElements(scope, 0, scope.InputType(0), shape, *elements);
  } else if (elements->size() == 1) {
    SetTensorWithElements(scope, 0, scope.InputType(0), shape, KnownElements(n, elements->front()));
  }
}

}  // namespace

std::span<const OpDef> expand_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "Expand",
       .since_version = 8,
       .inputs = {{"input", kAllTypes, "T"}, {"shape", {TensorType::kInt64}}},
       .outputs = {{"output", kAllTypes, "T"}},
       .attributes = {},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
