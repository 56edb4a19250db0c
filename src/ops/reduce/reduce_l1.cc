// SPDX-License-Identifier: Apache-2.0
// ReduceL1: the sum of the magnitudes; 0 of nothing.
// https://onnx.ai/onnx/operators/onnx__ReduceL1.html
#include <cmath>

#include "ops/reduce/reduce_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct ReduceL1Fold : SumFold {
  static constexpr kernels::FloatFold kFloatFold = kernels::FloatFold::kSumOfMagnitudes;
  template <class T, class X>
  static SumOf<T> Step(SumOf<T> sum, X x) {
    const auto magnitude = static_cast<SumOf<T>>(x);
    // Negative integers went to the top half of the unsigned type.
    if constexpr (std::is_unsigned_v<SumOf<T>>) {
      return sum + (std::is_signed_v<T> && x < X(0) ? SumOf<T>(0) - magnitude : magnitude);
    } else {
      return sum + std::abs(magnitude);
    }
  }
};

}  // namespace

constexpr Reduction kReduceL1{"ReduceL1", kReduceTypes, ReduceFnsOf<ReduceL1Fold>};

std::span<const OpDef> reduce_l1_ops() {
  static const std::vector<OpDef> ops = ReduceOps<kReduceL1>(18);
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
