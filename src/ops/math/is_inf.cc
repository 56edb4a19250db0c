// SPDX-License-Identifier: Apache-2.0
// IsInf: whether each element is infinite; the attributes say which of the two infinities count.
// https://onnx.ai/onnx/operators/onnx__IsInf.html
#include <cmath>

#include "ops/as_type.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct IsInfFn {
  bool negative, positive;
  template <class T>
  bool operator()(T x) const {
    return std::isinf(x) && (x < T(0) ? negative : positive);
  }
};
void Run(RunContext& ctx) {
  const IsInfFn fn{ctx.attrs().Int("detect_negative", 1) != 0, ctx.attrs().Int("detect_positive", 1) != 0};
  const Tensor x = WithOwnType(ctx.tensor(0));
  Dispatch(FloatList(), x.dtype(), [&]<class T>(std::type_identity<T>) {
    RunRows(ctx, 1, TensorType::kBool, kernels::UnaryRow<IsInfFn, T, bool>, &fn, &x);
  });
}

void ShapeRule(InferScope& scope) { UnaryShape(scope, nullptr, TensorType::kBool); }

}  // namespace

std::span<const OpDef> is_inf_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "IsInf",
       .since_version = 10,
       .inputs = {{"X", kFloatTypes | kFloat8Types, "T1"}},
       .outputs = {{"Y", kBoolType}},
       .attributes = {{"detect_negative", AttrKind::kInt}, {"detect_positive", AttrKind::kInt}},
       .shape = ShapeRule,
       .run = Run,
       .elementwise = 1},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
