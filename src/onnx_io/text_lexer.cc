// SPDX-License-Identifier: Apache-2.0
#include "onnx_io/text_lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// The locale has no say in what a letter is.
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

bool IsNonFiniteWord(std::string_view word) {
  const auto is = [word](std::string_view lower) {
    return std::equal(word.begin(), word.end(), lower.begin(), lower.end(),
                      [](char a, char b) { return (a | 0x20) == b; });
  };
  return is("inf") || is("infinity") || is("nan");
}

}  // namespace

void TextLexer::SkipBlanks() {
  while (at_ < text_.size()) {
    if (text_[at_] == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (IsBlank(text_[at_])) {
      ++at_;
    } else {
      return;
    }
  }
}

void TextLexer::Fail(const std::string& fact, size_t at) {
  const std::string_view before = text_.substr(0, at);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  throw ModelParseError(fmt::format("line {}, column {}: {}", line, at - line_start + 1, fact),
                        static_cast<int64_t>(at), "");
}

std::string TextLexer::NextWord() {
  if (AtEnd()) return "the end of the text";
  std::string_view word = PeekIdentifier();
  if (word.empty()) word = text_.substr(at_, 1);
  const auto byte = static_cast<unsigned char>(word.front());
  if (byte < 0x20 || byte >= 0x7f) return fmt::format("byte 0x{:02x}", byte);
  return fmt::format("'{}'", word.substr(0, 40));
}

void TextLexer::Expect(char c) {
  if (!Match(c)) Fail(fmt::format("expected '{}', found {}", c, NextWord()));
}

void TextLexer::ExpectArrow() {
  SkipBlanks();
  if (!text_.substr(at_).starts_with("=>")) Fail(fmt::format("expected '=>', found {}", NextWord()));
  at_ += 2;
}

void TextLexer::ExpectEnd() {
  if (!AtEnd()) Fail(fmt::format("expected the end of the text, found {}", NextWord()));
}

std::string_view TextLexer::PeekIdentifier() {
  SkipBlanks();
  size_t end = at_;
  while (end < text_.size() && (IsLetter(text_[end]) || (end > at_ && IsDigit(text_[end])))) ++end;
  return text_.substr(at_, end - at_);
}

std::string_view TextLexer::TryIdentifier() {
  const std::string_view word = PeekIdentifier();
  at_ += word.size();
  return word;
}

std::string_view TextLexer::Identifier(std::string_view what) {
  const std::string_view word = TryIdentifier();
  if (word.empty()) Fail(fmt::format("expected {}, found {}", what, NextWord()));
  return word;
}

std::string TextLexer::StringLiteral() {
  const size_t start = at();
  if (!Match('"')) Fail(fmt::format("expected a string in double quotes, found {}", NextWord()));
  std::string value;
  for (; at_ < text_.size(); ++at_) {
    if (text_[at_] == '"') {
      ++at_;
      return value;
    }
    if (text_[at_] == '\\' && ++at_ == text_.size()) break;
    value += text_[at_];
  }
  Fail("a string has no closing quote", start);
}

std::optional<std::string> TextLexer::TryName() {
  if (IsString()) return StringLiteral();
  const std::string_view word = TryIdentifier();
  if (word.empty()) return std::nullopt;
  return std::string(word);
}

std::string TextLexer::Name(std::string_view what) {
  std::optional<std::string> name = TryName();
  if (!name) Fail(fmt::format("expected {}, found {}", what, NextWord()));
  return *std::move(name);
}

bool TextLexer::IsNumber() {
  const char c = Peek();
  return IsDigit(c) || c == '-' || IsNonFiniteWord(PeekIdentifier());
}

TextLexer::Number TextLexer::ReadNumber() {
  const size_t start = at();
  const auto skip_digits = [&] {
    const size_t first = at_;
    while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
    return at_ != first;
  };
  if (at_ < text_.size() && text_[at_] == '-') ++at_;
  bool is_integer = true;
  // No blank may follow the sign.
  const bool has_word = at_ < text_.size() && IsLetter(text_[at_]);
  if (const std::string_view word = has_word ? PeekIdentifier() : std::string_view(); IsNonFiniteWord(word)) {
    at_ += word.size();
    is_integer = false;
  } else {
    if (!skip_digits()) {
      at_ = start;
      Fail(fmt::format("expected a number, found {}", NextWord()), start);
    }
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      skip_digits();
      is_integer = false;
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      if (!skip_digits()) Fail("a number has an exponent without digits", start);
      is_integer = false;
    }
  }
  return {text_.substr(start, at_ - start), is_integer, start};
}

int64_t TextLexer::ToInteger(const Number& number) {
  if (!number.is_integer) Fail(fmt::format("expected an integer, found {}", number.text), number.start);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(number.text.data(), number.text.data() + number.text.size(), value);
  if (error != std::errc()) Fail(fmt::format("{} does not fit in 64 bits", number.text), number.start);
  return value;
}

int64_t TextLexer::Integer() { return ToInteger(ReadNumber()); }

uint64_t TextLexer::Natural() {
  const Number number = ReadNumber();
  if (!number.is_integer || number.text.front() == '-') {
    Fail(fmt::format("expected an integer that is not negative, found {}", number.text), number.start);
  }
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(number.text.data(), number.text.data() + number.text.size(), value);
  if (error != std::errc()) Fail(fmt::format("{} does not fit in 64 bits", number.text), number.start);
  return value;
}

template <class T>
T TextLexer::ToReal(const Number& number) {
  T value = 0;
  const char* const last = number.text.data() + number.text.size();
  const auto [end, error] = std::from_chars(number.text.data(), last, value);
  if (error == std::errc()) return value;
  // Out of range, one way or the other: too small is zero. The exponent decides, since a magnitude past it takes
  // thousands of digits.
  long double wide = 0;
  const auto again = std::from_chars(number.text.data(), last, wide);
  const bool tiny = again.ec == std::errc() ? std::fabs(wide) < 1
                                            : number.text.find("e-") != std::string_view::npos ||
                                                  number.text.find("E-") != std::string_view::npos;
  if (!tiny) Fail(fmt::format("{} is too large", number.text), number.start);
  return static_cast<T>(again.ec == std::errc() ? wide : 0);
}
template float TextLexer::ToReal<float>(const Number& number);
template double TextLexer::ToReal<double>(const Number& number);

}  // namespace ONNX_LIGHT_NAMESPACE
