// SPDX-License-Identifier: Apache-2.0
// The one mechanism of the Reduce operators: an operator file brings what one step does. Axes are an attribute in older
// versions and an input in newer ones; none, or an empty list, means all axes, or no axis at all with
// noop_with_empty_axes.
#pragma once

#include <limits>
#include <string_view>
#include <vector>

#include "kernels/reduce/reduce.h"
#include "ops/math/elementwise_op.h"
#include "ops/op_def.h"
#include "ops/run_context.h"
#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {

inline constexpr TypeSet kReduceTypes =
    kFloatTypes | TypeSet{TensorType::kInt32, TensorType::kInt64, TensorType::kUint32, TensorType::kUint64};
using ReduceList = TypeList<float, double, Float16, BFloat16, int32_t, int64_t, uint32_t, uint64_t>;
// Max and Min also take these.
using ReduceExtremeList =
    TypeList<float, double, Float16, BFloat16, int32_t, int64_t, uint32_t, uint64_t, int8_t, uint8_t, bool>;

// Folds with `fns` for the element type at hand. A reduction of nothing that has no value for this type (ReduceMean of
// integers) is refused when `empty_refused`.
void RunReduceWith(RunContext& ctx, const kernels::ReduceFns& fns, bool empty_refused = false);

template <class Op, class List = ReduceList>
void RunReduce(RunContext& ctx) {
  Dispatch(List(), ctx.tensor(0).dtype(),
           [&]<class T>(std::type_identity<T>) { RunReduceWith(ctx, kernels::ReduceFnsFor<Op, T>()); });
}

// What the value of a reduction is, from known elements; null when it is not followed.
using FoldValues = std::optional<OptimDim> (*)(InferScope&, std::span<const OptimDim>);
template <FoldValues kFold>
void ReduceShape(InferScope& scope);
void ReduceShapeWith(InferScope& scope, FoldValues fold);
template <FoldValues kFold>
void ReduceShape(InferScope& scope) {
  ReduceShapeWith(scope, kFold);
}

// The version with axes as attribute and the one, from `input_since` on, with axes as input.
std::vector<OpDef> ReduceOps(std::string_view type, int input_since, TypeSet types, void (*run)(RunContext&),
                             void (*shape)(InferScope&) = ReduceShape<nullptr>);

// The type sums are kept in: double for floats, since a long axis of equal floats would stop growing in float; unsigned
// (it wraps) for integers.
template <class T>
using SumOf =
    std::conditional_t<kernels::kIsFloating<T>, double, std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>;

}  // namespace ONNX_LIGHT_NAMESPACE
