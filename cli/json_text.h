// SPDX-License-Identifier: Apache-2.0
// A sink of JSON events that writes text.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

// Compact, valid JSON in UTF-8: bytes that are no UTF-8 become U+FFFD, numbers that JSON lacks the strings "nan",
// "inf", "-inf".
class JsonText {
 public:
  void Object() { Open('{'); }
  void EndObject() { Close('}'); }
  void Array() { Open('['); }
  void EndArray() { Close(']'); }
  void Key(std::string_view key) {
    String(key);
    text_ += ':';
    first_ = true;
  }
  void String(std::string_view text) {
    Separate();
    Quote(text);
  }
  void Int(int64_t number) { Append(fmt::format_int(number)); }
  void UInt(uint64_t number) { Append(fmt::format_int(number)); }
  // As few digits as tell the number from its neighbours of type T.
  template <class T>
  void Float(T number) {
    if (std::isfinite(number)) {
      Separate();
      text_ += fmt::format("{}", number);
    } else {
      String(std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf");
    }
  }
  void Bool(bool flag) {
    Separate();
    text_ += flag ? "true" : "false";
  }
  void Null() {
    Separate();
    text_ += "null";
  }

  const std::string& text() const { return text_; }

 private:
  void Open(char bracket) {
    Separate();
    text_ += bracket;
    first_ = true;
  }
  void Close(char bracket) {
    text_ += bracket;
    first_ = false;
  }
  void Separate() {
    if (!first_) text_ += ',';
    first_ = false;
  }
  void Append(const fmt::format_int& number) {
    Separate();
    text_.append(number.data(), number.size());
  }
  void Quote(std::string_view text);

  std::string text_;
  bool first_ = true;  // nothing stands before the next value in its list or object
};

// Bytes of the UTF-8 character that `text` begins with, 0 when it begins with none. `text` is not empty.
size_t Utf8Length(std::string_view text);

}  // namespace ONNX_LIGHT_NAMESPACE
