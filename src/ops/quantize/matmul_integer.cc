// SPDX-License-Identifier: Apache-2.0
// MatMulInteger: the matrix product of 8-bit integers less their zero points, as int32, which wraps. A zero point is
// one number, or one for each row of A, or column of B. https://onnx.ai/onnx/operators/onnx__MatMulInteger.html
#include <algorithm>

#include "ops/math/elementwise_op.h"
#include "ops/quantize/integer_product.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const PlannedProduct plan = PlanProduct(ctx, 0, 1);
  int32_t* const y = ctx.AllocateOutput(0, TensorType::kInt32, plan.shape).MutableView<int32_t>().data();
  IntegerProduct(ctx, plan, 0, 2, 1, 3, [&](const ByteSums& s) {
    for (int64_t i = 0; i < s.rows; ++i) {
      const int32_t* const from = s.sums + i * s.step;
      int32_t* const to = y + (s.row + i) * plan.product.n + s.column;
      if (s.added == nullptr)
        std::copy_n(from, s.columns, to);
      else
        for (int64_t j = 0; j < s.columns; ++j) to[j] = WrapAdd(from[j], s.added[j]);
    }
  });
}
std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) { return PackConstantBytes(ctx, 1); }
void ShapeRule(InferScope& scope) { ProductShape(scope, 0, 1, TensorType::kInt32); }

}  // namespace

std::span<const OpDef> matmul_integer_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "MatMulInteger",
       .since_version = 10,
       .inputs = {{"A", kByteTypes, "T1"},
                  {"B", kByteTypes, "T2"},
                  {.name = "a_zero_point", .types = kByteTypes, .type_var = "T1", .count = FormalCount::kOptional},
                  {.name = "b_zero_point", .types = kByteTypes, .type_var = "T2", .count = FormalCount::kOptional}},
       .outputs = {{"Y", {TensorType::kInt32}}},
       .attributes = {},
       .shape = ShapeRule,
       .prepare = Prepare,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
