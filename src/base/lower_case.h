// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

// ASCII letters alone, whatever the locale.
inline std::string LowerCase(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

}  // namespace ONNX_LIGHT_NAMESPACE
