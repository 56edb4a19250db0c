// SPDX-License-Identifier: Apache-2.0
// ExpandDims: inserts an axis of one element at `axis`, a position in the result.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.ExpandDims
#include "ops/microsoft/microsoft_op.h"

namespace ONNX_LIGHT_NAMESPACE {

std::span<const OpDef> unsqueeze_ops();

namespace {

OpDef Definition() {
  OpDef op = MicrosoftVersion(unsqueeze_ops(), 13, "ExpandDims");
  op.inputs = {{"X", kAllTypes, "T"}, {"axis", kInt32}};
  op.outputs = {{"Y", kAllTypes, "T"}};
  return op;
}

}  // namespace

std::span<const OpDef> expand_dims_ops() {
  static const OpDef ops[] = {
      Definition(),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
