// SPDX-License-Identifier: Apache-2.0
// ReduceLogSum: the logarithm of the sum; -inf of nothing. Whole numbers are truncated.
// https://onnx.ai/onnx/operators/onnx__ReduceLogSum.html
#include <cmath>

#include "ops/reduce/reduce_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct ReduceLogSumFold : ElementSum {
  template <class T>
  static T Finish(SumOf<T> sum, int64_t) {
    if constexpr (kernels::kIsFloating<T>) {
      return T(std::log(sum));
    } else {
      return sum == 0 ? std::numeric_limits<T>::min() : static_cast<T>(std::log(static_cast<double>(sum)));
    }
  }
};

}  // namespace

constexpr Reduction kReduceLogSum{"ReduceLogSum", kReduceTypes, ReduceFnsOf<ReduceLogSumFold>};

std::span<const OpDef> reduce_log_sum_ops() {
  static const std::vector<OpDef> ops = ReduceOps<kReduceLogSum>(18);
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
