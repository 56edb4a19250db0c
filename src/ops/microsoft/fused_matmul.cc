// SPDX-License-Identifier: Apache-2.0
// FusedMatMul: alpha times MatMul of A and B, whose last two axes are swapped first with transA (transB). transBatchA
// (transBatchB) comes before that: the first axis moves to the last place but one.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.FusedMatMul
#include <algorithm>
#include <utility>

#include "kernels/elementwise/rows.h"
#include "kernels/strided/strided_copy.h"
#include "ops/math/matmul_op.h"
#include "ops/microsoft/microsoft_op.h"
#include "ops/op_helpers.h"
#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct Turn {
  bool matrix, batch;
};
Turn TurnOf(const NodeAttributes& attrs, std::string_view operand) {
  return {attrs.Int(std::string("trans").append(operand), 0) != 0,
          attrs.Int(std::string("transBatch").append(operand), 0) != 0};
}

// The dims after the turns, of a shape of either kind, when there are two axes at least. Vectors are not turned.
template <class Dims>
void MoveFirst(Dims& dims) {
  if (dims.size() > 2) std::rotate(dims.begin(), dims.begin() + 1, dims.end() - 1);
}

// Input i as [batch.., rows, columns] before the last two are swapped.
Tensor Unbatched(RunContext& ctx, int i, const Turn& turn) {
  const Tensor t = ctx.tensor(i);
  if (!turn.batch || t.rank() < 3) return t;
  std::vector<int64_t> dims(t.shape().dims().begin(), t.shape().dims().end());
  std::vector<int64_t> strides = DenseStrides(dims);
  MoveFirst(dims);
  MoveFirst(strides);
  Tensor moved(t.dtype(), Shape(dims));
  const auto size = onnx_optim::BytesOf(t.dtype());
  kernels::StridedCopy(t.data(), moved.mutable_data(), dims, strides, size, 0, moved.NumElements());
  return moved;
}

void Run(RunContext& ctx) {
  const Turn turn_a = TurnOf(ctx.attrs(), "A"), turn_b = TurnOf(ctx.attrs(), "B");
  const Tensor a = Unbatched(ctx, 0, turn_a), b = Unbatched(ctx, 1, turn_b);
  const bool swap_a = turn_a.matrix && a.rank() > 1, swap_b = turn_b.matrix && b.rank() > 1;
  const PlannedProduct plan = PlanProduct(ctx, {0, a.shape(), swap_a}, {1, b.shape(), swap_b});
  Tensor y(a.dtype(), plan.shape);
  if (y.NumElements() > 0) Multiply(ctx, plan.product, a, b, y);
  const float alpha = ctx.attrs().Float("alpha", 1);
  if (alpha != 1) {
    Dispatch(FloatList(), y.dtype(), [&]<class T>(std::type_identity<T>) {
      for (T& element : y.MutableView<T>())
        element = static_cast<T>(kernels::Load(element) * static_cast<decltype(kernels::Load(element))>(alpha));
    });
  }
  ctx.SetOutput(0, std::move(y));
}

OptimShape Turned(const InferScope& scope, int i, const Turn& turn) {
  const OptimShape& shape = scope.InputShape(i);
  if (shape.IsUnknown() || shape.Rank() < 2) return shape;
  std::vector<OptimDim> dims = shape.Dims();
  if (turn.batch) MoveFirst(dims);
  if (turn.matrix) std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  return OptimShape(std::move(dims));
}

void ShapeRule(InferScope& scope) {
  ProductShape(scope, 0, Turned(scope, 0, TurnOf(scope.attrs(), "A")), 1, Turned(scope, 1, TurnOf(scope.attrs(), "B")),
               scope.InputType(0) != TensorType::kUndefined ? scope.InputType(0) : scope.InputType(1));
}

}  // namespace

std::span<const OpDef> fused_matmul_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "FusedMatMul",
       .since_version = 1,
       .inputs = {{"A", kFloatTypes, "T"}, {"B", kFloatTypes, "T"}},
       .outputs = {{"Y", kFloatTypes, "T"}},
       .attributes = {{"alpha", AttrKind::kFloat},
                      {"transA", AttrKind::kInt},
                      {"transB", AttrKind::kInt},
                      {"transBatchA", AttrKind::kInt},
                      {"transBatchB", AttrKind::kInt}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
