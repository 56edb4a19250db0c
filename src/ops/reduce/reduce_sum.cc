// SPDX-License-Identifier: Apache-2.0
// ReduceSum: the sum; 0 of nothing. Integers wrap. Axes are an input from version 13 on.
// https://onnx.ai/onnx/operators/onnx__ReduceSum.html
#include "ops/reduce/reduce_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::optional<OptimDim> Known(InferScope&, std::span<const OptimDim> x) { return onnx_optim::Sum(x); }

}  // namespace

constexpr Reduction kReduceSum{"ReduceSum", kReduceTypes, ReduceFnsOf<ElementSum>};

std::span<const OpDef> reduce_sum_ops() {
  static const std::vector<OpDef> ops = ReduceOps<kReduceSum>(13, ReduceShape<Known>);
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
