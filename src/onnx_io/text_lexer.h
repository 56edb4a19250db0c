// SPDX-License-Identifier: Apache-2.0
// The words of the ONNX text syntax: identifiers, strings, numbers, punctuation. Private to the text parser.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

// A cursor over text. Every member passes over blanks and comments first. Failing throws ModelParseError at the place
// asked about.
class TextLexer {
 public:
  explicit TextLexer(std::string_view text) : text_(text) {}

  // The next character, '\0' at the end.
  char Peek() {
    SkipBlanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool AtEnd() {
    SkipBlanks();
    return at_ == text_.size();
  }
  bool Match(char c) {
    if (AtEnd() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void Expect(char c);
  // "=>", with nothing between.
  void ExpectArrow();
  void ExpectEnd();

  // [A-Za-z_][A-Za-z0-9_]*; empty when something else comes.
  std::string_view PeekIdentifier();
  std::string_view TryIdentifier();
  std::string_view Identifier(std::string_view what);
  // A string literal, in which a backslash stands for the character after it.
  bool IsString() { return Peek() == '"'; }
  std::string StringLiteral();
  // An identifier or a string literal; nothing when neither comes.
  std::optional<std::string> TryName();
  std::string Name(std::string_view what);

  struct Number {
    std::string_view text;
    bool is_integer;
    size_t start;
  };
  // Digits with sign, point and exponent, or inf, infinity, nan in any case, with sign. Nothing when something else
  // comes.
  bool IsNumber();
  Number ReadNumber();
  int64_t Integer();
  uint64_t Natural();
  int64_t ToInteger(const Number& number);
  template <class T>  // float, double
  T ToReal(const Number& number);

  size_t at() {
    SkipBlanks();
    return at_;
  }
  [[noreturn]] void Fail(const std::string& fact) { Fail(fact, at()); }
  [[noreturn]] void Fail(const std::string& fact, size_t at);
  // What comes next, for messages: `'x'`, `the end of the text`.
  std::string NextWord();

 private:
  void SkipBlanks();
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace ONNX_LIGHT_NAMESPACE
