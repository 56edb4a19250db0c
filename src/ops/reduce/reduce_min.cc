// SPDX-License-Identifier: Apache-2.0
// ReduceMin: the smallest element; NaN wins. Inf, or the greatest value of the type, of nothing. bool counts as 0
// and 1. https://onnx.ai/onnx/operators/onnx__ReduceMin.html
#include "ops/reduce/reduce_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct ReduceMinFold {
  static constexpr kernels::FloatFold kFloatFold = kernels::FloatFold::kLeast;
  template <class T>
  using Acc = std::conditional_t<kernels::kIsHalf<T>, float, T>;
  template <class T>
  static Acc<T> Init() {
    if constexpr (kernels::kIsFloating<T>) return std::numeric_limits<Acc<T>>::infinity();
    return std::numeric_limits<Acc<T>>::max();
  }
  template <class T>
  static Acc<T> Step(Acc<T> best, Acc<T> x) {
    return x < best || x != x ? x : best;
  }
  template <class T>
  static Acc<T> Merge(Acc<T> a, Acc<T> b) {
    return Step<T>(a, b);
  }
  template <class T>
  static T Finish(Acc<T> best, int64_t) {
    return static_cast<T>(best);
  }
};

std::optional<OptimDim> Known(InferScope&, std::span<const OptimDim> x) {
  return x.empty() ? std::nullopt : std::optional(onnx_optim::Min(x));
}

}  // namespace

constexpr Reduction kReduceMin{"ReduceMin", ReduceExtremeList::kSet, ReduceFnsOf<ReduceMinFold, ReduceExtremeList>};

std::span<const OpDef> reduce_min_ops() {
  static const std::vector<OpDef> ops = ReduceOps<kReduceMin>(18, ReduceShape<Known>);
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
