// SPDX-License-Identifier: Apache-2.0
// ReduceMean: the mean. Whole numbers are truncated; the mean of nothing is NaN, and an error for them.
// https://onnx.ai/onnx/operators/onnx__ReduceMean.html
#include "ops/reduce/reduce_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct ReduceMeanFold {
  static constexpr kernels::FloatFold kFloatFold = kernels::FloatFold::kSum;
  // Integers are summed exactly; a 64-bit sum may wrap.
  template <class T>
  using Acc = std::conditional_t<kernels::kIsFloating<T>, SumOf<T>, uint64_t>;
  template <class T>
  static Acc<T> Init() {
    return 0;
  }
  template <class T, class X>
  static Acc<T> Step(Acc<T> sum, X x) {
    return sum + static_cast<Acc<T>>(x);
  }
  template <class T>
  static Acc<T> Merge(Acc<T> a, Acc<T> b) {
    return a + b;
  }
  template <class T>
  static T Finish(Acc<T> sum, int64_t count) {
    if constexpr (kernels::kIsFloating<T>) {
      return T(sum / static_cast<Acc<T>>(count));
    } else if constexpr (std::is_signed_v<T>) {
      return static_cast<T>(static_cast<int64_t>(sum) / count);
    } else {
      return static_cast<T>(sum / static_cast<uint64_t>(count));
    }
  }
};

}  // namespace

constexpr Reduction kReduceMean{"ReduceMean", kReduceTypes, ReduceFnsOf<ReduceMeanFold>, true};

std::span<const OpDef> reduce_mean_ops() {
  static const std::vector<OpDef> ops = ReduceOps<kReduceMean>(18);
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
