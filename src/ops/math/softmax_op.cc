// SPDX-License-Identifier: Apache-2.0
#include "ops/math/softmax_op.h"

#include <algorithm>

#include "kernels/cast/cast.h"
#include "kernels/softmax/softmax.h"
#include "ops/op_helpers.h"
#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

template <class T>
void RunTyped(RunContext& ctx, const Tensor& x, Tensor& y, int64_t outer, int64_t n, int64_t inner, bool log) {
  const T* from = x.View<T>().data();
  T* to = y.MutableView<T>().data();
  const int64_t block = n * inner;
  if (outer == 0 || block == 0) return;
  // An exponential costs about ten additions.
  const int64_t grain = std::max<int64_t>(1, kElementGrain / 8 / block);
  ctx.ParallelFor(outer, grain, [&](int64_t begin, int64_t end) {
    kernels::Softmax(from + begin * block, to + begin * block, end - begin, n, inner, log);
  });
}

template <bool kMatrix, bool kLog>
void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  const int axis = NormalizeAxis(ctx, ctx.attrs().Int("axis", kMatrix ? 1 : -1), std::max(x.rank(), 1));
  const std::span<const int64_t> dims = x.shape().dims();
  const int rank = x.rank();
  const int64_t outer = DimsProduct(dims, 0, std::min(axis, rank));
  const int64_t n = rank == 0 ? 1 : DimsProduct(dims, axis, kMatrix ? rank : axis + 1);
  const int64_t inner = kMatrix || rank == 0 ? 1 : DimsProduct(dims, axis + 1, rank);
  Tensor& y = ctx.AllocateOutput(0, x.dtype(), x.shape());
  if (x.dtype() == TensorType::kFloat) return RunTyped<float>(ctx, x, y, outer, n, inner, kLog);
  if (x.dtype() == TensorType::kDouble) return RunTyped<double>(ctx, x, y, outer, n, inner, kLog);
  Tensor wide(TensorType::kFloat, x.shape());
  kernels::Cast(x.data(), x.dtype(), wide.mutable_data(), TensorType::kFloat, x.NumElements());
  Tensor result(TensorType::kFloat, x.shape());
  RunTyped<float>(ctx, wide, result, outer, n, inner, kLog);
  kernels::Cast(result.data(), TensorType::kFloat, y.mutable_data(), x.dtype(), x.NumElements());
}

template <bool kMatrix>
void ShapeRule(InferScope& scope) {
  const OptimShape& shape = scope.InputShape(0);
  if (!shape.IsUnknown())
    scope.NormalizeAxis(scope.attrs().Int("axis", kMatrix ? 1 : -1), std::max(static_cast<int>(shape.Rank()), 1));
  SetLikeInput(scope, 0, shape);
}

OpDef VersionOf(std::string_view type, int since, void (*shape)(InferScope&), void (*run)(RunContext&)) {
  return {.domain = "",
          .type = type,
          .since_version = since,
          .inputs = {{"input", kFloatTypes, "T"}},
          .outputs = {{"output", kFloatTypes, "T"}},
          .attributes = {{"axis", AttrKind::kInt}},
          .shape = shape,
          .run = run};
}

}  // namespace

std::vector<OpDef> SoftmaxOps(std::string_view type, bool log) {
  return {VersionOf(type, 1, ShapeRule<true>, log ? Run<true, true> : Run<true, false>),
          VersionOf(type, 13, ShapeRule<false>, log ? Run<false, true> : Run<false, false>)};
}

}  // namespace ONNX_LIGHT_NAMESPACE
