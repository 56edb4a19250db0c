// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

// The one spelling of a domain: "ai.onnx" is "".
inline std::string_view Domain(std::string_view domain) { return domain == "ai.onnx" ? std::string_view() : domain; }

}  // namespace ONNX_LIGHT_NAMESPACE
