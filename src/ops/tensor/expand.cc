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
  const std::optional<std::vector<OptimDim>> target = InputSizes(scope, 1);
  if (!target) return SetLikeInput(scope, 0, OptimShape::Unknown());
  SetLikeInput(scope, 0, scope.Broadcast(in, OptimShape(*target)));
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
