// SPDX-License-Identifier: Apache-2.0
// CumSum: running sums along an axis, from the end with reverse, without the element itself with exclusive. The axis is
// a scalar input. Integers wrap; halves are summed as float. https://onnx.ai/onnx/operators/onnx__CumSum.html
#include <algorithm>

#include "kernels/reduce/along_axis.h"
#include "ops/math/elementwise_op.h"
#include "ops/reduce/reduce_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  const int axis = NormalizeAxis(ctx, ReadInt(ctx, 1), x.rank(), ctx.InputSubject(1));
  const bool exclusive = ctx.attrs().Int("exclusive", 0) != 0, reverse = ctx.attrs().Int("reverse", 0) != 0;
  const int64_t outer = DimsProduct(x.shape().dims(), 0, axis), n = x.dim(axis);
  const int64_t inner = DimsProduct(x.shape().dims(), axis + 1, x.rank()), block = n * inner;
  Tensor& y = ctx.AllocateOutput(0, x.dtype(), x.shape());
  if (y.NumElements() == 0) return;
  Dispatch(ReduceList(), x.dtype(), [&]<class T>(std::type_identity<T>) {
    const T* from = x.View<T>().data();
    T* to = y.MutableView<T>().data();
    ctx.ParallelFor(outer, std::max<int64_t>(1, kElementGrain / block), [&](int64_t begin, int64_t end) {
      kernels::RunningSum<T, SumOf<T>>(from + begin * block, to + begin * block, end - begin, n, inner, exclusive,
                                       reverse);
    });
  });
}

void ShapeRule(InferScope& scope) {
  const OptimShape& shape = scope.InputShape(0);
  const std::optional<std::vector<int64_t>> axis = scope.InputInts(1);
  if (!shape.IsUnknown() && axis && axis->size() == 1)
    scope.NormalizeAxis((*axis)[0], static_cast<int>(shape.Rank()), scope.InputSubject(1));
  SetLikeInput(scope, 0, shape);
}

}  // namespace

std::span<const OpDef> cum_sum_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "CumSum",
       .since_version = 11,
       .inputs = {{"x", kReduceTypes, "T"}, {"axis", kIndexTypes}},
       .outputs = {{"y", kReduceTypes, "T"}},
       .attributes = {{"exclusive", AttrKind::kInt}, {"reverse", AttrKind::kInt}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
