// SPDX-License-Identifier: Apache-2.0
#include "ops/loss/loss_body.h"

#include <fmt/format.h>

namespace ONNX_LIGHT_NAMESPACE {

std::string ReadLossReduction(const NodeProto& node) {
  const std::string reduction = NodeAttributes(node).String("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean")
    FailAttribute("reduction", fmt::format("is \"{}\", must be none, sum or mean", reduction));
  return reduction;
}

std::string IgnoreIndexText(const NodeProto& node) {
  const NodeAttributes attrs(node);
  return attrs.Has("ignore_index") ? fmt::format(" ignore_index: int = {},", attrs.Int("ignore_index")) : "";
}

}  // namespace ONNX_LIGHT_NAMESPACE
