// SPDX-License-Identifier: Apache-2.0
// What Cast and CastLike share. Element types without a C++ type of their own and complex ones are not taken.
#pragma once

#include "ops/run_context.h"
#include "shapes/infer_scope.h"

namespace ONNX_LIGHT_NAMESPACE {

inline constexpr TypeSet kCastTypes = kNumericTypes | TypeSet{TensorType::kBool, TensorType::kString};

// Output 0 = input 0 as elements of type `to`. Text that is no number is refused, naming the element.
void RunCast(RunContext& ctx, TensorType to);
void CastShape(InferScope& scope, TensorType to);

}  // namespace ONNX_LIGHT_NAMESPACE
