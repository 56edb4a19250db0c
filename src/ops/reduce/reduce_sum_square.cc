// SPDX-License-Identifier: Apache-2.0
// ReduceSumSquare: the sum of the squares; 0 of nothing. Integers wrap.
// https://onnx.ai/onnx/operators/onnx__ReduceSumSquare.html
#include "ops/reduce/reduce_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct ReduceSumSquareFold {
  static constexpr kernels::FloatFold kFloatFold = kernels::FloatFold::kSumOfSquares;
  template <class T>
  using Acc = SumOf<T>;
  template <class T>
  static SumOf<T> Init() {
    return 0;
  }
  template <class T, class X>
  static SumOf<T> Step(SumOf<T> sum, X x) {
    return sum + static_cast<SumOf<T>>(x) * static_cast<SumOf<T>>(x);
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

}  // namespace

constexpr Reduction kReduceSumSquare{"ReduceSumSquare", kReduceTypes, ReduceFnsOf<ReduceSumSquareFold>};

std::span<const OpDef> reduce_sum_square_ops() {
  static const std::vector<OpDef> ops = ReduceOps<kReduceSumSquare>(18);
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
