// SPDX-License-Identifier: Apache-2.0
// What QLinearAdd and QLinearMul share: two quantised tensors, which broadcast, combined as floats and quantised again.
#pragma once

#include "kernels/quantize/byte_rows.h"
#include "ops/microsoft/microsoft_op.h"
#include "ops/run_context.h"

namespace ONNX_LIGHT_NAMESPACE {

// Inputs A, its scale and zero point, B, its own, the scale and zero point of C.
void RunQuantizedBinary(RunContext& ctx, decltype(kernels::ByteRowKernels::add) row);
OpDef QuantizedBinaryOp(std::string_view type, void (*run)(RunContext&));

}  // namespace ONNX_LIGHT_NAMESPACE
