// SPDX-License-Identifier: Apache-2.0
#include "json_text.h"

namespace ONNX_LIGHT_NAMESPACE {

size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](size_t i) { return i < text.size() && (byte(i) & 0xc0) == 0x80; };
  if (byte(0) < 0x80) return 1;
  if (byte(0) >= 0xc2 && byte(0) < 0xe0) return continues(1) ? 2 : 0;
  if (byte(0) >= 0xe0 && byte(0) < 0xf0) {
    if (!continues(1) || !continues(2)) return 0;
    const bool too_long = byte(0) == 0xe0 && byte(1) < 0xa0, surrogate = byte(0) == 0xed && byte(1) >= 0xa0;
    return too_long || surrogate ? 0 : 3;
  }
  if (byte(0) >= 0xf0 && byte(0) < 0xf5) {
    if (!continues(1) || !continues(2) || !continues(3)) return 0;
    const bool too_long = byte(0) == 0xf0 && byte(1) < 0x90, too_large = byte(0) == 0xf4 && byte(1) >= 0x90;
    return too_long || too_large ? 0 : 4;
  }
  return 0;
}

void JsonText::Quote(std::string_view text) {
  text_ += '"';
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    const char c = text[0];
    if (length == 0) {
      text_ += "\\ufffd";
    } else if (length > 1) {
      text_ += text.substr(0, length);
    } else if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (c == '\n') {
      text_ += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      text_ += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      text_ += c;
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  text_ += '"';
}

}  // namespace ONNX_LIGHT_NAMESPACE
