// SPDX-License-Identifier: Apache-2.0
// Trilu of com.microsoft: that of ai.onnx 14.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.Trilu
#include "ops/microsoft/microsoft_op.h"

namespace ONNX_LIGHT_NAMESPACE {

std::span<const OpDef> trilu_ops();

std::span<const OpDef> microsoft_trilu_ops() {
  static const OpDef ops[] = {
      MicrosoftVersion(trilu_ops(), 14, "Trilu"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
