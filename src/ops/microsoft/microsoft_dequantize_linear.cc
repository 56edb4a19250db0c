// SPDX-License-Identifier: Apache-2.0
// DequantizeLinear of com.microsoft: that of ai.onnx 21, for models of older operator sets.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.DequantizeLinear
#include "ops/microsoft/microsoft_op.h"

namespace ONNX_LIGHT_NAMESPACE {

std::span<const OpDef> dequantize_linear_ops();

std::span<const OpDef> microsoft_dequantize_linear_ops() {
  static const OpDef ops[] = {
      MicrosoftVersion(dequantize_linear_ops(), 21, "DequantizeLinear"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
