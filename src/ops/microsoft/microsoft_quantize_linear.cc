// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear of com.microsoft: that of ai.onnx 21, for models of older operator sets.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.QuantizeLinear
#include "ops/microsoft/microsoft_op.h"

namespace ONNX_LIGHT_NAMESPACE {

std::span<const OpDef> quantize_linear_ops();

std::span<const OpDef> microsoft_quantize_linear_ops() {
  static const OpDef ops[] = {
      MicrosoftVersion(quantize_linear_ops(), 21, "QuantizeLinear"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
