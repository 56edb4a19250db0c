// SPDX-License-Identifier: Apache-2.0
// What operators share that give the same elements other dims: Reshape, Squeeze, Unsqueeze, Flatten.
#pragma once

#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {

// Output 0 = input 0 under another shape of the same count; nothing is copied.
inline void SetView(RunContext& ctx, Shape shape) {
  const Value x = ctx.TakeInput(0);
  ctx.SetOutput(0, x.tensor().WithShape(std::move(shape)));
}

// Output 0 has the elements of input 0, known ones included, under `shape`.
inline void SetViewShape(InferScope& scope, const OptimShape& shape) {
  SetLikeInput(scope, 0, shape);
  const KnownElements* elements = InputElements(scope, 0);
  if (elements == nullptr || shape.IsUnknown() || !shape.IsFullyKnown()) return;
  if (shape.NumElements() != static_cast<int64_t>(elements->size())) return;
  SetTensorWithElements(scope, 0, scope.InputType(0), shape, *elements);
}

}  // namespace ONNX_LIGHT_NAMESPACE
