// SPDX-License-Identifier: Apache-2.0
// IsNaN: whether each element is not a number.
// https://onnx.ai/onnx/operators/onnx__IsNaN.html
#include <cmath>

#include "ops/as_type.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct IsNaNFn {
  template <class T>
  bool operator()(T x) const {
    return x != x;
  }
};
void Run(RunContext& ctx) {
  const IsNaNFn fn;
  const Tensor x = WithOwnType(ctx.tensor(0));
  Dispatch(FloatList(), x.dtype(), [&]<class T>(std::type_identity<T>) {
    RunRows(ctx, 1, TensorType::kBool, kernels::UnaryRow<IsNaNFn, T, bool>, &fn, &x);
  });
}

void ShapeRule(InferScope& scope) { UnaryShape(scope, nullptr, TensorType::kBool); }

}  // namespace

std::span<const OpDef> is_nan_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "IsNaN",
       .since_version = 9,
       .inputs = {{"X", kFloatTypes | kFloat8Types, "T1"}},
       .outputs = {{"Y", kBoolType}},
       .attributes = {},
       .shape = ShapeRule,
       .run = Run,
       .elementwise = 1},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
