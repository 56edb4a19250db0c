// SPDX-License-Identifier: Apache-2.0
// Operators of one number whose floats have vector kernels; recurrent kernels share the activations.
#pragma once

#include "kernels/activation/activation.h"
#include "kernels/functions/functions.h"
#include "ops/run_context.h"

namespace ONNX_LIGHT_NAMESPACE {

// Output 0 = the function of input 0; float, double, float16 and bfloat16, the narrow ones computed as float.
void RunActivation(RunContext& ctx, const kernels::Activation& activation);
void RunFunction(RunContext& ctx, const kernels::Function& function);

}  // namespace ONNX_LIGHT_NAMESPACE
