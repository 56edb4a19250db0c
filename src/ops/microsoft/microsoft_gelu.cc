// SPDX-License-Identifier: Apache-2.0
// Gelu of com.microsoft: that of ai.onnx 20.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.Gelu
#include "ops/microsoft/microsoft_op.h"

namespace ONNX_LIGHT_NAMESPACE {

std::span<const OpDef> gelu_ops();

std::span<const OpDef> microsoft_gelu_ops() {
  static const OpDef ops[] = {
      MicrosoftVersion(gelu_ops(), 20, "Gelu"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
