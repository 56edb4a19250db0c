// SPDX-License-Identifier: Apache-2.0
// BlackmanWindow: a window of the given size, written as nodes of other operators.
// https://onnx.ai/onnx/operators/onnx__BlackmanWindow.html
#include "ops/signal/window_body.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t /*opset*/) { return WindowText(node, {0.42, 0.5, 0.08}); }

}  // namespace

std::span<const OpDef> blackman_window_ops() {
  static const OpDef ops[] = {WindowOp("BlackmanWindow", Body)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
