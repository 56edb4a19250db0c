// SPDX-License-Identifier: Apache-2.0
// Equal: a == b with broadcasting; NaN equals nothing. Strings are compared byte by byte.
// https://onnx.ai/onnx/operators/onnx__Equal.html
#include <string>

#include "ops/math/axis_broadcast.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using EqualList = TypeList<float, double, Float16, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                           uint32_t, uint64_t, bool, std::string>;

struct EqualFn {
  template <class T>
  bool operator()(const T& a, const T& b) const {
    return a == b;
  }
};
void Run(RunContext& ctx) { RunCompare<EqualFn, EqualList>(ctx); }

std::optional<OptimDim> Known(InferScope& scope, std::span<const OptimDim> x) {
  if (scope.context().Equal(x[0], x[1])) return OptimDim(1);
  if (scope.context().ProvablyDifferent(x[0], x[1])) return OptimDim(0);
  return std::nullopt;
}
void ShapeRule(InferScope& scope) { BroadcastShape(scope, Known, TensorType::kBool); }

}  // namespace

std::span<const OpDef> equal_ops() {
  static const OpDef ops[] = {
      ByAxis<ShapeRule, TensorType::kBool>(CompareOp("Equal", 1, TypeSet{TensorType::kBool} | kIndexTypes, Run)),
      CompareOp("Equal", 7, EqualList::kSet, Run, ShapeRule),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
