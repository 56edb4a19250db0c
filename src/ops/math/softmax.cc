// SPDX-License-Identifier: Apache-2.0
// Softmax: e^x over the sum of e^x along an axis. softmax_op.h says what the versions differ in.
// https://onnx.ai/onnx/operators/onnx__Softmax.html
#include "ops/math/softmax_op.h"

namespace ONNX_LIGHT_NAMESPACE {

std::span<const OpDef> softmax_ops() {
  static const std::vector<OpDef> ops = SoftmaxOps("Softmax", false);
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
