// SPDX-License-Identifier: Apache-2.0
// Size: how many elements a tensor has, as an int64 scalar.
// https://onnx.ai/onnx/operators/onnx__Size.html
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) { ctx.SetOutput(0, Tensor::Scalar<int64_t>(ctx.tensor(0).NumElements())); }

void ShapeRule(InferScope& scope) {
  const std::optional<OptimDim> count = scope.InputShape(0).SymbolicNumElements();
  if (!count) return scope.SetTensor(0, TensorType::kInt64, OptimShape());
  scope.SetOutput(0, ShapeValue::Int64Scalar(*count));
}

}  // namespace

std::span<const OpDef> size_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "Size",
       .since_version = 1,
       .inputs = {{"data", kAllTypes, "T"}},
       .outputs = {{"size", {TensorType::kInt64}}},
       .attributes = {},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
