// SPDX-License-Identifier: Apache-2.0
// GridSample of com.microsoft: that of ai.onnx 16.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.GridSample
#include "ops/microsoft/microsoft_op.h"

namespace ONNX_LIGHT_NAMESPACE {

std::span<const OpDef> grid_sample_ops();

std::span<const OpDef> microsoft_grid_sample_ops() {
  static const OpDef ops[] = {
      MicrosoftVersion(grid_sample_ops(), 16, "GridSample"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
