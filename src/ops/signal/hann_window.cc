// SPDX-License-Identifier: Apache-2.0
// HannWindow: a window of the given size, written as nodes of other operators.
// https://onnx.ai/onnx/operators/onnx__HannWindow.html
#include "ops/signal/window_body.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t /*opset*/) { return WindowText(node, {0.5, 0.5, 0}); }

}  // namespace

std::span<const OpDef> hann_window_ops() {
  static const OpDef ops[] = {WindowOp("HannWindow", Body)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
