// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

// Of operators that passes make and files are not to hold.
inline constexpr std::string_view kInternalDomain = "onnxseq.internal";

// Steps of one FusedElementwise.
inline constexpr size_t kMaxFusedSteps = 16;

// Attributes of a Conv that does what follows it (nn/conv.cc).
inline constexpr std::string_view kConvActivation = "activation", kConvPoolKernel = "pool_kernel",
                                  kConvPoolStrides = "pool_strides";

// The node of the author's that an error is told of: of a fused node the first step.
inline const NodeProto& AuthorNode(const NodeProto& node) {
  if (node.domain() != kInternalDomain) return node;
  for (const AttributeProto& attribute : node.attribute())
    if (attribute.has_g() && !attribute.g().node().empty()) return attribute.g().node().front();
  return node;
}

}  // namespace ONNX_LIGHT_NAMESPACE
