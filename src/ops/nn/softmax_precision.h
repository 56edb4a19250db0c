// SPDX-License-Identifier: Apache-2.0
// Attribute softmax_precision of the attention operators.
#pragma once

#include <fmt/format.h>

#include <optional>

#include "graph/node_attributes.h"
#include "onnx_optim/tensor_type.h"

namespace ONNX_LIGHT_NAMESPACE {

// The element type it names; nothing when it is not there. InvalidArgument for one that is no floating type.
inline std::optional<TensorType> ReadSoftmaxPrecision(const NodeAttributes& attrs) {
  constexpr std::string_view kName = "softmax_precision";
  if (!attrs.Has(kName)) return std::nullopt;
  const int64_t number = attrs.Int(kName);
  for (const TensorType t : {TensorType::kFloat, TensorType::kFloat16, TensorType::kDouble, TensorType::kBfloat16})
    if (number == static_cast<int64_t>(t)) return t;
  FailAttribute(kName, fmt::format("is {}, must be 1 (float), 10 (float16), 11 (double) or 16 (bfloat16)", number));
}

}  // namespace ONNX_LIGHT_NAMESPACE
