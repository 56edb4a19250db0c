// SPDX-License-Identifier: Apache-2.0
// LogSoftmax: the logarithm of Softmax, without its rounding. softmax_op.h says what the versions differ in.
// https://onnx.ai/onnx/operators/onnx__LogSoftmax.html
#include "ops/math/softmax_op.h"

namespace ONNX_LIGHT_NAMESPACE {

std::span<const OpDef> log_softmax_ops() {
  static const std::vector<OpDef> ops = SoftmaxOps("LogSoftmax", true);
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
