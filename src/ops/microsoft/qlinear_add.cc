// SPDX-License-Identifier: Apache-2.0
// QLinearAdd: the sum of two quantised tensors, which broadcast, quantised again.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.QLinearAdd
#include "ops/microsoft/quantized_binary.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) { RunQuantizedBinary(ctx, kernels::ActiveByteRowKernels().add); }

}  // namespace

std::span<const OpDef> qlinear_add_ops() {
  static const OpDef ops[] = {QuantizedBinaryOp("QLinearAdd", Run)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
