// SPDX-License-Identifier: Apache-2.0
// What Div and Mod share.
#pragma once

#include "ops/run_context.h"

namespace ONNX_LIGHT_NAMESPACE {

// InvalidArgument when input 1 is an integer tensor with a zero in it that would divide something.
void CheckDivisor(const RunContext& ctx);

}  // namespace ONNX_LIGHT_NAMESPACE
