// SPDX-License-Identifier: Apache-2.0
// Trilu: of each matrix in the last two axes the upper triangle (the default) or the lower one, zeros (empty text)
// elsewhere; the diagonal that bounds it is k above the main one.
// https://onnx.ai/onnx/operators/onnx__Trilu.html
#include <fmt/format.h>

#include <algorithm>

#include "kernels/indexed/storage_type.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// The columns [first, second) of row r that are kept, of a matrix with `columns`.
std::pair<int64_t, int64_t> Kept(int64_t r, int64_t columns, int64_t k, bool upper) {
  // A diagonal beyond the matrix is as good as one at its edge.
  const int64_t diagonal = std::clamp(k, -r - 1, columns) + r;
  if (upper) return {std::clamp<int64_t>(diagonal, 0, columns), columns};
  return {0, std::clamp<int64_t>(diagonal + 1, 0, columns)};
}

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  if (x.rank() < 2) ctx.FailInput(0, fmt::format("must have rank 2 or more, got {}", x.TypeString()));
  const int64_t k = ctx.HasInput(1) ? ReadInt(ctx, 1) : 0;
  const bool upper = ctx.attrs().Int("upper", 1) != 0;
  const int64_t rows = x.dim(x.rank() - 2), columns = x.dim(x.rank() - 1);
  Tensor& y = ctx.AllocateOutput(0, x.dtype(), x.shape());
  if (y.NumElements() == 0) return;
  const int64_t all = y.NumElements() / columns;
  kernels::DispatchStorage(x.dtype(), [&]<class E>(std::type_identity<E>) {
    const auto* from = static_cast<const E*>(x.data());
    auto* to = static_cast<E*>(y.mutable_data());
    for (int64_t r = 0; r < all; ++r, from += columns, to += columns) {
      const auto [begin, end] = Kept(r % rows, columns, k, upper);
      std::fill_n(to, begin, E{});
      std::copy(from + begin, from + end, to + begin);
      std::fill(to + end, to + columns, E{});
    }
  });
}

void ShapeRule(InferScope& scope) {
  const OptimShape& x = scope.InputShape(0);
  if (!x.IsUnknown() && x.Rank() < 2)
    scope.Fail(scope.InputSubject(0),
               fmt::format("must have rank 2 or more, got {}", InferScope::Describe(scope.Input(0))));
  SetLikeInput(scope, 0, x);
}

}  // namespace

std::span<const OpDef> trilu_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "Trilu",
       .since_version = 14,
       .inputs = {{"input", kAllTypes, "T"},
                  {.name = "k", .types = {TensorType::kInt64}, .count = FormalCount::kOptional}},
       .outputs = {{"output", kAllTypes, "T"}},
       .attributes = {{"upper", AttrKind::kInt}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
