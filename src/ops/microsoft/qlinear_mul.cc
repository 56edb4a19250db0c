// SPDX-License-Identifier: Apache-2.0
// QLinearMul: the product of two quantised tensors, which broadcast, quantised again.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.QLinearMul
#include "ops/microsoft/quantized_binary.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) { RunQuantizedBinary(ctx, kernels::ActiveByteRowKernels().multiply); }

}  // namespace

std::span<const OpDef> qlinear_mul_ops() {
  static const OpDef ops[] = {QuantizedBinaryOp("QLinearMul", Run)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
