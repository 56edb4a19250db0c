// SPDX-License-Identifier: Apache-2.0
// ReduceL2: the square root of the sum of the squares; 0 of nothing. Whole numbers are truncated.
// https://onnx.ai/onnx/operators/onnx__ReduceL2.html
#include <cmath>

#include "ops/reduce/reduce_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct ReduceL2Fold : SquareSum {
  template <class T>
  static T Finish(SumOf<T> sum, int64_t) {
    if constexpr (kernels::kIsFloating<T>) {
      return T(std::sqrt(sum));
    } else {
      return static_cast<T>(std::sqrt(static_cast<double>(static_cast<T>(sum))));
    }
  }
};

}  // namespace

constexpr Reduction kReduceL2{"ReduceL2", kReduceTypes, ReduceFnsOf<ReduceL2Fold>};

std::span<const OpDef> reduce_l2_ops() {
  static const std::vector<OpDef> ops = ReduceOps<kReduceL2>(18);
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
