// SPDX-License-Identifier: Apache-2.0
// GatherND of com.microsoft: that of ai.onnx 11.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.GatherND
#include "ops/microsoft/microsoft_op.h"

namespace ONNX_LIGHT_NAMESPACE {

std::span<const OpDef> gather_nd_ops();

std::span<const OpDef> microsoft_gather_nd_ops() {
  static const OpDef ops[] = {
      MicrosoftVersion(gather_nd_ops(), 11, "GatherND"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
