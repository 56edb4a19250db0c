// SPDX-License-Identifier: Apache-2.0
// BitwiseAnd: the bitwise and of two integers, with broadcasting.
// https://onnx.ai/onnx/operators/onnx__BitwiseAnd.html
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct BitwiseAndFn {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
void Run(RunContext& ctx) { RunBinary<BitwiseAndFn, IntList>(ctx); }

std::optional<OptimDim> Known(InferScope&, std::span<const OptimDim> x) {
  if (!x[0].IsInt() || !x[1].IsInt()) return std::nullopt;
  return OptimDim(x[0].AsInt() & x[1].AsInt());
}
void ShapeRule(InferScope& scope) { BroadcastShape(scope, Known); }

}  // namespace

std::span<const OpDef> bitwise_and_ops() {
  static const OpDef ops[] = {
      BinaryOp("BitwiseAnd", 18, kIntTypes, Run, ShapeRule),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
