// SPDX-License-Identifier: Apache-2.0
// What Cast and CastLike share. Complex types are not taken.
#pragma once

#include "kernels/cast/narrow_float.h"
#include "ops/run_context.h"
#include "shapes/infer_scope.h"

namespace ONNX_LIGHT_NAMESPACE {

inline constexpr TypeSet kCastTypes = kNumericTypes | kNarrowTypes | TypeSet{TensorType::kBool, TensorType::kString};

// Attributes saturate and round_mode.
struct CastState : OpState {
  kernels::CastRules rules;
};
std::unique_ptr<OpState> PrepareCast(const PrepareContext& ctx);
// Output 0 = input 0 as elements of type `to`. Text that is no number is refused, naming the element.
void RunCast(RunContext& ctx, TensorType to);
void CastShape(InferScope& scope, TensorType to);

}  // namespace ONNX_LIGHT_NAMESPACE
