// SPDX-License-Identifier: Apache-2.0
#include "ops/math/softmax_op.h"

#include <algorithm>
#include <array>

#include "kernels/cast/cast.h"
#include "kernels/softmax/softmax.h"
#include "ops/as_type.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Numbers of a piece: each costs about two additions.
constexpr int64_t kSoftmaxGrain = kElementGrain / 2;
// Columns of a piece are a multiple of what is taken together.
constexpr int64_t kColumns = 64;

template <class T>
void RunTyped(RunContext& ctx, const Tensor& x, Tensor& y, int64_t outer, std::span<const int64_t> starts,
              int64_t inner, bool log) {
  const T* from = x.View<T>().data();
  T* to = y.MutableView<T>().data();
  const int64_t n = starts.back(), segments = static_cast<int64_t>(starts.size()) - 1;
  if (outer == 0 || n * inner == 0) return;
  if (inner == 1 && segments == 1) {
    return ctx.ParallelFor(outer, std::max<int64_t>(1, kSoftmaxGrain / n), [&](int64_t begin, int64_t end) {
      kernels::SoftmaxRows(from + begin * n, to + begin * n, end - begin, n, log);
    });
  }
  // Pieces: some columns of one segment.
  const int64_t length = std::max<int64_t>(1, n / segments);
  const int64_t columns = std::min(inner, (kSoftmaxGrain / length / kColumns + 1) * kColumns);
  const int64_t blocks = (inner - 1) / columns + 1;
  const int64_t grain = std::max<int64_t>(1, kSoftmaxGrain / length / columns);
  ctx.ParallelFor(outer * segments * blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t* const start = &starts[static_cast<size_t>(piece / blocks % segments)];
      const int64_t column = piece % blocks * columns, count = start[1] - start[0];
      const int64_t at = (piece / blocks / segments * n + start[0]) * inner + column;
      if (inner == 1) {
        kernels::SoftmaxRows(from + at, to + at, 1, count, log);
      } else {
        kernels::SoftmaxColumns(from + at, to + at, count, std::min(columns, inner - column), inner, log);
      }
    }
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
  RunSoftmax(ctx, outer, std::array<int64_t, 2>{0, n}, inner, kLog);
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

void RunSoftmax(RunContext& ctx, int64_t outer, std::span<const int64_t> starts, int64_t inner, bool log) {
  const Tensor x = ctx.tensor(0);
  Tensor& y = ctx.AllocateOutput(0, x.dtype(), x.shape());
  if (x.dtype() == TensorType::kFloat) return RunTyped<float>(ctx, x, y, outer, starts, inner, log);
  if (x.dtype() == TensorType::kDouble) return RunTyped<double>(ctx, x, y, outer, starts, inner, log);
  const Tensor wide = Widened(x);
  Tensor result(TensorType::kFloat, x.shape());
  RunTyped<float>(ctx, wide, result, outer, starts, inner, log);
  kernels::Cast(result.data(), TensorType::kFloat, y.mutable_data(), x.dtype(), x.NumElements());
}

std::vector<OpDef> SoftmaxOps(std::string_view type, bool log) {
  return {VersionOf(type, 1, ShapeRule<true>, log ? Run<true, true> : Run<true, false>),
          VersionOf(type, 13, ShapeRule<false>, log ? Run<false, true> : Run<false, false>)};
}

}  // namespace ONNX_LIGHT_NAMESPACE
