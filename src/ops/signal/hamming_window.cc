// SPDX-License-Identifier: Apache-2.0
// HammingWindow: a window of the given size, written as nodes of other operators.
// https://onnx.ai/onnx/operators/onnx__HammingWindow.html
#include "ops/signal/window_body.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t /*opset*/) { return WindowText(node, {25.0 / 46, 21.0 / 46, 0}); }

}  // namespace

std::span<const OpDef> hamming_window_ops() {
  static const OpDef ops[] = {WindowOp("HammingWindow", Body)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
