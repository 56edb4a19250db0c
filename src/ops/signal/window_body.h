// SPDX-License-Identifier: Apache-2.0
// What the windows of cosines share, which are written as nodes of other operators.
#pragma once

#include "ops/op_def.h"

namespace ONNX_LIGHT_NAMESPACE {

// a0 - a1 cos(2 pi k / N) + a2 cos(4 pi k / N) for k below the size, N the size, or one less when not periodic.
struct CosineWindow {
  double a0, a1, a2;
};
std::string WindowText(const NodeProto& node, const CosineWindow& window);
OpDef WindowOp(std::string_view type, std::string (*body)(const NodeProto&, int64_t));

}  // namespace ONNX_LIGHT_NAMESPACE
