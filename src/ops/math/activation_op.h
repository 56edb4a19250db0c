// SPDX-License-Identifier: Apache-2.0
// Activations that operators and recurrent kernels share: one vectorised implementation for both.
#pragma once

#include "kernels/activation/activation.h"
#include "ops/run_context.h"

namespace ONNX_LIGHT_NAMESPACE {

// Output 0 = activation(input 0); float, double, float16 and bfloat16, the narrow ones computed as float.
void RunActivation(RunContext& ctx, const kernels::Activation& activation);

}  // namespace ONNX_LIGHT_NAMESPACE
