// SPDX-License-Identifier: Apache-2.0
// Hardmax: 1 at the first greatest element along an axis, 0 elsewhere. Before version 13 the dims from `axis` on
// (default 1) are taken as one axis, from then on it is one (default -1).
// https://onnx.ai/onnx/operators/onnx__Hardmax.html
#include <algorithm>

#include "kernels/reduce/along_axis.h"
#include "ops/op_helpers.h"
#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

template <bool kMatrix>
int64_t AxisOf(const NodeAttributes& attrs) {
  return attrs.Int("axis", kMatrix ? 1 : -1);
}

template <bool kMatrix>
void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  const int rank = x.rank();
  const int axis = NormalizeAxis(ctx, AxisOf<kMatrix>(ctx.attrs()), std::max(rank, 1));
  const std::span<const int64_t> dims = x.shape().dims();
  const int64_t outer = DimsProduct(dims, 0, std::min(axis, rank));
  const int64_t n = rank == 0 ? 1 : DimsProduct(dims, axis, kMatrix ? rank : axis + 1);
  const int64_t inner = kMatrix || rank == 0 ? 1 : DimsProduct(dims, axis + 1, rank);
  Tensor& y = ctx.AllocateOutput(0, x.dtype(), x.shape());
  if (y.NumElements() == 0) return;
  std::vector<int64_t> best(static_cast<size_t>(outer * inner));
  Dispatch(FloatList(), x.dtype(), [&]<class T>(std::type_identity<T>) {
    kernels::ArgExtreme<T, true>(x.View<T>().data(), best.data(), outer, n, inner, false);
    const std::span<T> to = y.MutableView<T>();
    std::ranges::fill(to, static_cast<T>(0.f));
    for (int64_t i = 0; i < outer * inner; ++i)
      to[static_cast<size_t>((i / inner * n + best[static_cast<size_t>(i)]) * inner + i % inner)] = static_cast<T>(1.f);
  });
}

template <bool kMatrix>
void ShapeRule(InferScope& scope) {
  const OptimShape& shape = scope.InputShape(0);
  if (!shape.IsUnknown())
    scope.NormalizeAxis(AxisOf<kMatrix>(scope.attrs()), std::max(static_cast<int>(shape.Rank()), 1));
  SetLikeInput(scope, 0, shape);
}

OpDef VersionOf(int since, void (*shape)(InferScope&), void (*run)(RunContext&)) {
  return {.domain = "",
          .type = "Hardmax",
          .since_version = since,
          .inputs = {{"input", kFloatTypes, "T"}},
          .outputs = {{"output", kFloatTypes, "T"}},
          .attributes = {{"axis", AttrKind::kInt}},
          .shape = shape,
          .run = run};
}

}  // namespace

std::span<const OpDef> hardmax_ops() {
  static const OpDef ops[] = {
      VersionOf(1, ShapeRule<true>, Run<true>),
      VersionOf(13, ShapeRule<false>, Run<false>),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
