// SPDX-License-Identifier: Apache-2.0
// ReduceSum: the sum; 0 of nothing. Integers wrap. Axes are an input from version 13 on.
// https://onnx.ai/onnx/operators/onnx__ReduceSum.html
#include "ops/reduce/reduce_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct ReduceSumFold {
  static constexpr kernels::FloatFold kFloatFold = kernels::FloatFold::kSum;
  template <class T>
  using Acc = SumOf<T>;
  template <class T>
  static SumOf<T> Init() {
    return 0;
  }
  template <class T, class X>
  static SumOf<T> Step(SumOf<T> sum, X x) {
    return sum + static_cast<SumOf<T>>(x);
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

std::optional<OptimDim> Known(InferScope&, std::span<const OptimDim> x) { return onnx_optim::Sum(x); }

}  // namespace

constexpr Reduction kReduceSum{"ReduceSum", kReduceTypes, ReduceFnsOf<ReduceSumFold>};

std::span<const OpDef> reduce_sum_ops() {
  static const std::vector<OpDef> ops = ReduceOps<kReduceSum>(13, ReduceShape<Known>);
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
