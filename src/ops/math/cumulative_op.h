// SPDX-License-Identifier: Apache-2.0
// What CumSum and CumProd share: what is put together along an axis up to each element, from the end with reverse,
// without the element itself with exclusive. The axis is a scalar input. Integers wrap; floats are kept in double.
#pragma once

#include <algorithm>

#include "kernels/reduce/along_axis.h"
#include "ops/op_helpers.h"
#include "ops/reduce/reduce_op.h"

namespace ONNX_LIGHT_NAMESPACE {

// `first` is what nothing makes.
template <class Fold>
void RunCumulative(RunContext& ctx, int first, Fold fold) {
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
      kernels::RunningFold<T>(from + begin * block, to + begin * block, end - begin, n, inner, exclusive, reverse,
                              static_cast<SumOf<T>>(first), fold);
    });
  });
}

// Output 0 is like input 0, with what `fold` makes of a vector of known integers.
void SetRunning(InferScope& scope, OptimDim first, OptimDim (*fold)(const OptimDim&, const OptimDim&));

OpDef CumulativeOp(std::string_view type, int since, void (*run)(RunContext&), void (*shape)(InferScope&));

}  // namespace ONNX_LIGHT_NAMESPACE
