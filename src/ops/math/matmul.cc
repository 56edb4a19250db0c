// SPDX-License-Identifier: Apache-2.0
// MatMul: matrix products as numpy.matmul: the last two axes are matrices, the ones before them broadcast; a vector
// gets an axis of one in front (A) or behind (B), dropped from the result. float16 and bfloat16 are multiplied as
// float. https://onnx.ai/onnx/operators/onnx__MatMul.html
#include "ops/math/matmul_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const Tensor a = ctx.tensor(0), b = ctx.tensor(1);
  const PlannedProduct plan = PlanProduct(ctx, 0, 1);
  Tensor y(a.dtype(), plan.shape);
  const auto& factor = ctx.state<ConstantFactor>();
  if (y.NumElements() > 0) {
    if (factor.is_packed())
      MultiplyPacked(ctx, factor, plan.product.m, a, Tensor(), y);
    else
      Multiply(ctx, plan.product, a, b, y);
  }
  ctx.SetOutput(0, std::move(y));
}

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) { return PackConstantFactor(ctx, false); }

void ShapeRule(InferScope& scope) {
  ProductShape(scope, 0, 1, scope.InputType(0) != TensorType::kUndefined ? scope.InputType(0) : scope.InputType(1));
}

}  // namespace

std::span<const OpDef> matmul_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "MatMul",
       .since_version = 1,
       .inputs = {{"A", kMatrixTypes, "T"}, {"B", kMatrixTypes, "T"}},
       .outputs = {{"Y", kMatrixTypes, "T"}},
       .attributes = {},
       .shape = ShapeRule,
       .prepare = Prepare,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
