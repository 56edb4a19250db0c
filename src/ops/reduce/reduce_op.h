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

// What one of the operators does with elements, whatever says which of them: the Reduce operators themselves, and
// SegmentReduce (internal/segment_reduce.cc). Each is defined in the file of its operator.
struct Reduction {
  std::string_view type;  // "ReduceSum"
  TypeSet types;
  kernels::ReduceFns (*fns)(TensorType);  // for one of `types`
  // There is no result of no whole numbers (ReduceMean).
  bool refuses_no_integers = false;

  bool Refuses(TensorType of, int64_t count) const { return refuses_no_integers && count == 0 && !kFloatTypes.Has(of); }
};
extern const Reduction kReduceL1, kReduceL2, kReduceLogSum, kReduceLogSumExp, kReduceMax, kReduceMean, kReduceMin,
    kReduceProd, kReduceSum, kReduceSumSquare;

template <class Op, class List = ReduceList>
kernels::ReduceFns ReduceFnsOf(TensorType type) {
  kernels::ReduceFns fns{};
  Dispatch(List(), type, [&]<class T>(std::type_identity<T>) { fns = kernels::ReduceFnsFor<Op, T>(); });
  return fns;
}

void RunReduce(RunContext& ctx, const Reduction& reduction);

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
std::vector<OpDef> ReduceOps(const Reduction& reduction, int input_since, void (*run)(RunContext&),
                             void (*shape)(InferScope&));
template <const Reduction& kReduction>
std::vector<OpDef> ReduceOps(int input_since, void (*shape)(InferScope&) = ReduceShape<nullptr>) {
  return ReduceOps(kReduction, input_since, [](RunContext& ctx) { RunReduce(ctx, kReduction); }, shape);
}

// The type sums are kept in: double for floats, since a long axis of equal floats would stop growing in float; unsigned
// (it wraps) for integers.
template <class T>
using SumOf =
    std::conditional_t<kernels::kIsFloating<T>, double, std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>;

// What operators that sum share, all but Step: what an element adds. The result is the sum unless they say otherwise.
struct SumFold {
  template <class T>
  using Acc = SumOf<T>;
  template <class T>
  static SumOf<T> Init() {
    return 0;
  }
  template <class T>
  static SumOf<T> Merge(SumOf<T> a, SumOf<T> b) {
    return a + b;
  }
  template <class T>
  static T Finish(SumOf<T> sum, int64_t) {
    return static_cast<T>(sum);
  }
};
// The elements themselves, and their squares.
struct ElementSum : SumFold {
  static constexpr kernels::FloatFold kFloatFold = kernels::FloatFold::kSum;
  template <class T, class X>
  static SumOf<T> Step(SumOf<T> sum, X x) {
    return sum + static_cast<SumOf<T>>(x);
  }
};
struct SquareSum : SumFold {
  static constexpr kernels::FloatFold kFloatFold = kernels::FloatFold::kSumOfSquares;
  template <class T, class X>
  static SumOf<T> Step(SumOf<T> sum, X x) {
    return sum + static_cast<SumOf<T>>(x) * static_cast<SumOf<T>>(x);
  }
};

}  // namespace ONNX_LIGHT_NAMESPACE
