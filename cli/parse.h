// SPDX-License-Identifier: Apache-2.0
// Text of arguments and files as numbers, and what is wrong with it.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {

// The number the text is; nothing when it is none or goes on after it.
inline std::optional<int64_t> ParseInt(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Throws InvalidArgument, `subject: fact`.
[[noreturn]] inline void FailAbout(const std::string& subject, const std::string& fact) {
  throw InvalidArgument(fact, ErrorWhere{.op_type = {}, .node_name = {}, .subject = subject, .path = {}});
}

}  // namespace ONNX_LIGHT_NAMESPACE
