// SPDX-License-Identifier: Apache-2.0
// FusedProduct (onnxseq.internal 1): a MatMul or Gemm by a constant matrix, then Add of a constant row, Relu, or both,
// which the kernel does before it stores the sums: to the bit what the nodes give one by one, which are in graph
// `steps`. Made by passes/fuse_product.cc, never written to files.
#include <fmt/format.h>

#include "onnxseq/errors.h"
#include "ops/internal/internal_domain.h"
#include "ops/math/matmul_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr TypeSet kTypes{TensorType::kFloat, TensorType::kDouble};

struct State : OpState {
  std::unique_ptr<ConstantFactor> factor;
  Tensor begin, added;
};

// Constant input `i`, one number for each of `n` columns; undefined where it is absent.
Tensor Row(const PrepareContext& ctx, int i, std::string_view name, int64_t n) {
  if (!ctx.HasInput(i)) return {};
  const Tensor* const row = ctx.ConstantInput(i);
  if (row == nullptr || row->NumElements() != n)
    throw InvalidArgument(
        fmt::format("must be a constant row of {}", n),
        {.op_type = {}, .node_name = {}, .subject = fmt::format("input {} '{}'", i, name), .path = {}});
  return row->WithShape(Shape{n});
}

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  const bool transposed = ctx.attrs().Int("transB", 0) != 0;
  auto state = std::make_unique<State>();
  state->factor = PackConstantFactor(ctx, transposed);
  if (!state->factor->is_packed())
    throw InvalidArgument(fmt::format("must be a constant matrix of at most {} bytes", kMostPackedBytes),
                          {.op_type = {}, .node_name = {}, .subject = "input 1 'B'", .path = {}});
  const int64_t n = state->factor->b.dim(transposed ? 0 : 1);
  state->begin = Row(ctx, 2, "C", n);
  state->added = Row(ctx, 3, "row", n);
  return state;
}

void Run(RunContext& ctx) {
  const State& state = ctx.state<State>();
  PlannedProduct plan;
  if (ctx.attrs().Int("gemm") != 0) {
    plan.product = PlanGemm(ctx);
    plan.shape = {plan.product.m, plan.product.n};
  } else {
    plan = PlanProduct(ctx, 0, 1);
  }
  const Tensor a = ctx.tensor(0);
  Tensor y(a.dtype(), plan.shape);
  if (y.NumElements() > 0)
    MultiplyPacked(ctx, *state.factor, plan.product.m, a, state.begin, y, state.added, ctx.attrs().Int("relu", 0) != 0);
  ctx.SetOutput(0, std::move(y));
}

void ShapeRule(InferScope& scope) {
  OptimShape y = scope.InputShape(0);
  const OptimShape& b = scope.InputShape(1);
  if (!y.IsUnknown() && y.Rank() > 0)
    y[y.Rank() - 1] = b.IsUnknown() ? scope.Fresh() : b[scope.attrs().Int("transB", 0) != 0 ? 0 : 1];
  scope.SetTensor(0, scope.InputType(0), std::move(y));
}

}  // namespace

std::span<const OpDef> fused_product_ops() {
  static const OpDef ops[] = {
      {.domain = kInternalDomain,
       .type = "FusedProduct",
       .since_version = 1,
       .inputs = {{"A", kTypes, "T"},
                  {"B", kTypes, "T"},
                  {.name = "C", .types = kTypes, .type_var = "T", .count = FormalCount::kOptional},
                  {.name = "row", .types = kTypes, .type_var = "T", .count = FormalCount::kOptional}},
       .outputs = {{"Y", kTypes, "T"}},
       .attributes = {{"gemm", AttrKind::kInt, true},
                      {"relu", AttrKind::kInt},
                      {"steps", AttrKind::kGraph, true},
                      {"transB", AttrKind::kInt}},
       .shape = ShapeRule,
       .prepare = Prepare,
       .run = Run,
       .reads_graphs = true},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
