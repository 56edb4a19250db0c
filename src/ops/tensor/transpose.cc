// SPDX-License-Identifier: Apache-2.0
// Transpose: axis i of the result is axis perm[i] of the input; without perm the axes are reversed.
// https://onnx.ai/onnx/operators/onnx__Transpose.html
#include <fmt/format.h>

#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// The permutation, or why there is none.
std::optional<std::vector<size_t>> PermOf(const NodeAttributes& attrs, size_t rank, std::string* fact) {
  const std::optional<std::vector<int64_t>> stated = attrs.FindInts("perm");
  std::vector<size_t> perm(rank);
  if (!stated) {
    for (size_t d = 0; d < rank; ++d) perm[d] = rank - 1 - d;
    return perm;
  }
  std::vector<char> seen(rank);
  bool is_permutation = stated->size() == rank;
  for (size_t d = 0; d < rank && is_permutation; ++d) {
    const int64_t axis = (*stated)[d];
    is_permutation = axis >= 0 && axis < static_cast<int64_t>(rank) && seen[static_cast<size_t>(axis)]++ == 0;
    if (is_permutation) perm[d] = static_cast<size_t>(axis);
  }
  if (is_permutation) return perm;
  *fact = fmt::format("[{}] is no permutation of {} axes", fmt::join(*stated, ","), rank);
  return std::nullopt;
}

void Run(RunContext& ctx) {
  const Tensor data = ctx.tensor(0);
  std::string fact;
  const std::optional<std::vector<size_t>> perm = PermOf(ctx.attrs(), static_cast<size_t>(data.rank()), &fact);
  if (!perm) ctx.Fail("attribute 'perm'", fact);
  const std::vector<int64_t> dense = DenseStrides(data.shape().dims());
  Shape shape;
  std::vector<int64_t> strides;
  // Moving axes of one element moves nothing.
  bool in_order = true;
  size_t previous = 0;
  for (const size_t axis : *perm) {
    const int64_t dim = data.dim(static_cast<int>(axis));
    shape.push_back(dim);
    strides.push_back(dense[axis]);
    if (dim == 1) continue;
    in_order = in_order && axis >= previous;
    previous = axis;
  }
  if (in_order) return ctx.SetOutput(0, data.WithShape(std::move(shape)));
  CopyStrided(ctx, data, 0, strides, std::move(shape));
}

void ShapeRule(InferScope& scope) {
  const OptimShape& in = scope.InputShape(0);
  if (in.IsUnknown()) {
    const std::optional<std::vector<int64_t>> stated = scope.attrs().FindInts("perm");
    const bool counted = stated && stated->size() <= OptimShape::kMaxRank;
    return SetLikeInput(scope, 0, counted ? scope.FreshShape(static_cast<int>(stated->size())) : OptimShape::Unknown());
  }
  std::string fact;
  const std::optional<std::vector<size_t>> perm = PermOf(scope.attrs(), in.Rank(), &fact);
  if (!perm) scope.Fail("attribute 'perm'", fact);
  OptimShape shape;
  for (const size_t axis : *perm) shape.PushBack(in[axis]);
  const KnownElements* elements = InputElements(scope, 0);
  if (elements != nullptr && in.Rank() <= 1)
    return SetTensorWithElements(scope, 0, scope.InputType(0), shape, *elements);
  SetLikeInput(scope, 0, std::move(shape));
}

}  // namespace

std::span<const OpDef> transpose_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "Transpose",
       .since_version = 1,
       .inputs = {{"data", kAllTypes, "T"}},
       .outputs = {{"transposed", kAllTypes, "T"}},
       .attributes = {{"perm", AttrKind::kInts}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
