// SPDX-License-Identifier: Apache-2.0
// Where: x where the condition is true, y elsewhere; all three broadcast.
// https://onnx.ai/onnx/operators/onnx__Where.html
#include "kernels/indexed/storage_type.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// By size: what an element means does not matter.
template <class T>
void Row(const void* const* in, const int64_t* step, void* out, int64_t n, const void* /*fn*/) {
  const auto* condition = static_cast<const bool*>(in[0]);
  const auto* x = static_cast<const T*>(in[1]);
  const auto* y = static_cast<const T*>(in[2]);
  auto* to = static_cast<T*>(out);
  if (step[0] == 1 && step[1] == 1 && step[2] == 1) {
    for (int64_t i = 0; i < n; ++i) to[i] = condition[i] ? x[i] : y[i];
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = condition[i * step[0]] ? x[i * step[1]] : y[i * step[2]];
  }
}

kernels::RowFn RowOf(TensorType type) {
  kernels::RowFn row = nullptr;
  kernels::DispatchStorage(type, [&]<class E>(std::type_identity<E>) { row = Row<E>; });
  return row;
}

void Run(RunContext& ctx) { RunRows(ctx, 3, ctx.tensor(1).dtype(), RowOf(ctx.tensor(1).dtype()), nullptr); }

std::optional<OptimDim> Known(InferScope& scope, std::span<const OptimDim> x) {
  if (scope.context().Equal(x[1], x[2])) return x[1];
  if (!x[0].IsInt()) return std::nullopt;
  return x[0].AsInt() != 0 ? x[1] : x[2];
}
void ShapeRule(InferScope& scope) {
  const TensorType x = scope.InputType(1);
  BroadcastShape(scope, Known, x != TensorType::kUndefined ? x : scope.InputType(2));
}

}  // namespace

std::span<const OpDef> where_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "Where",
       .since_version = 9,
       .inputs = {{"condition", kBoolType}, {"X", kAllTypes, "T"}, {"Y", kAllTypes, "T"}},
       .outputs = {{"output", kAllTypes, "T"}},
       .attributes = {},
       .shape = ShapeRule,
       .run = Run,
       .elementwise = 7},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
