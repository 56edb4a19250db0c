// SPDX-License-Identifier: Apache-2.0
// Names from files in text for people.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

// The text with control characters as \x1b: names are anybody's, and a terminal would obey them, a C string end at a
// NUL. Line ends and tabs stay: messages may have several lines.
inline std::string VisibleText(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return out;
}

}  // namespace ONNX_LIGHT_NAMESPACE
