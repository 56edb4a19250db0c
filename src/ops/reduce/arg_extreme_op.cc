// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/arg_extreme_op.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/reduce/along_axis.h"
#include "ops/op_helpers.h"
#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

template <bool kGreatest>
void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  const int axis = NormalizeAxis(ctx, ctx.attrs().Int("axis", 0), std::max(x.rank(), 1));
  const bool last = ctx.attrs().Int("select_last_index", 0) != 0;
  Shape shape = x.shape();
  const int64_t n = x.rank() == 0 ? 1 : x.dim(axis);
  if (x.rank() > 0) {
    shape[axis] = 1;
    if (ctx.attrs().Int("keepdims", 1) == 0) shape.erase(axis);
  }
  Tensor y(TensorType::kInt64, std::move(shape));
  if (n == 0 && y.NumElements() > 0)
    ctx.FailInput(0, fmt::format("{} has no elements along axis {}", x.TypeString(), axis));
  const int64_t outer = DimsProduct(x.shape().dims(), 0, std::min(axis, x.rank()));
  const int64_t inner = x.rank() == 0 ? 1 : DimsProduct(x.shape().dims(), axis + 1, x.rank());
  if (y.NumElements() > 0) {
    int64_t* const to = y.MutableView<int64_t>().data();
    Dispatch(NumericList(), x.dtype(), [&]<class T>(std::type_identity<T>) {
      const T* from = x.View<T>().data();
      ctx.ParallelFor(outer, std::max<int64_t>(1, kElementGrain / (n * inner)), [&](int64_t begin, int64_t end) {
        kernels::ArgExtreme<T, kGreatest>(from + begin * n * inner, to + begin * inner, end - begin, n, inner, last);
      });
    });
  }
  ctx.SetOutput(0, std::move(y));
}

void ShapeRule(InferScope& scope) {
  OptimShape shape = scope.InputShape(0);
  const bool keep = scope.attrs().Int("keepdims", 1) != 0;
  if (!shape.IsUnknown()) {
    const auto rank = static_cast<int>(shape.Rank());
    const auto axis = static_cast<size_t>(scope.NormalizeAxis(scope.attrs().Int("axis", 0), std::max(rank, 1)));
    std::vector<OptimDim> dims = shape.Dims();
    if (rank > 0 && keep) dims[axis] = 1;
    if (rank > 0 && !keep) dims.erase(dims.begin() + static_cast<ptrdiff_t>(axis));
    shape = OptimShape(std::move(dims));
  }
  scope.SetTensor(0, TensorType::kInt64, std::move(shape));
}

}  // namespace

std::vector<OpDef> ArgExtremeOps(bool greatest) {
  return {
      {.domain = "",
       .type = greatest ? "ArgMax" : "ArgMin",
       .since_version = 1,
       .inputs = {{"data", kNumericTypes, "T"}},
       .outputs = {{"reduced", {TensorType::kInt64}}},
       .attributes = {{"axis", AttrKind::kInt}, {"keepdims", AttrKind::kInt}, {"select_last_index", AttrKind::kInt}},
       .shape = ShapeRule,
       .run = greatest ? Run<true> : Run<false>}};
}

}  // namespace ONNX_LIGHT_NAMESPACE
