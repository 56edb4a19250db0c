// SPDX-License-Identifier: Apache-2.0
// ReduceSumSquare: the sum of the squares; 0 of nothing. Integers wrap.
// https://onnx.ai/onnx/operators/onnx__ReduceSumSquare.html
#include "ops/reduce/reduce_op.h"

namespace ONNX_LIGHT_NAMESPACE {

constexpr Reduction kReduceSumSquare{"ReduceSumSquare", kReduceTypes, ReduceFnsOf<SquareSum>};

std::span<const OpDef> reduce_sum_square_ops() {
  static const std::vector<OpDef> ops = ReduceOps<kReduceSumSquare>(18);
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
