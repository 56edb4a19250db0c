// SPDX-License-Identifier: Apache-2.0
// Reads an expression: what this library writes, and what sympy, torch and others write.
#include <charconv>
#include <cstdlib>

#include "shapes/expr.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {
namespace expr {
namespace {

constexpr size_t kMaxText = 4096;
constexpr int kMaxNesting = 64;
constexpr size_t kMaxWork = 100000;  // term products over the whole text
constexpr int64_t kMaxExponent = 32;

// numerator / denominator * scale while inside floor() or ceil(); whole outside.
struct Rational {
  OptimDim numerator = 0;
  OptimDim denominator = 1;
  std::optional<float> scale;
};

bool IsWhole(const Rational& x) { return !x.scale && x.denominator == OptimDim(1); }

class Parser {
 public:
  Parser(std::string_view text, std::vector<std::string>* identifiers) : text_(text), identifiers_(identifiers) {}

  bool Run(OptimDim* dim) {
    Rational value;
    if (!ParseSum(&value)) return false;
    SkipSpaces();
    if (at_ != text_.size() || value.scale || !has_name_) return false;
    if (!IsWhole(value)) {
      const auto quotient = ExactDiv(value.numerator, value.denominator);
      if (!quotient) return false;
      value.numerator = *quotient;
    }
    *dim = value.numerator;
    return true;
  }

 private:
  void SkipSpaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool Take(std::string_view token) {
    SkipSpaces();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  // Refuses what does not fit, and texts made to cost much.
  bool Fits(const OptimDim& dim) {
    const std::span<const Term> terms = TermsOf(dim);
    work_ += terms.size() + 1;
    return !IsOpaque(dim) && work_ <= kMaxWork;
  }
  bool Multiply(const OptimDim& a, const OptimDim& b, OptimDim* out) {
    work_ += (TermsOf(a).size() + 1) * (TermsOf(b).size() + 1);
    if (work_ > kMaxWork) return false;
    *out = a * b;
    return Fits(*out);
  }

  bool ParseSum(Rational* out) {
    if (!ParseProduct(out)) return false;
    for (;;) {
      const bool plus = Take("+");
      if (!plus && !Take("-")) return true;
      Rational right;
      if (!ParseProduct(&right) || out->scale || right.scale) return false;
      OptimDim a, b, bottom;
      if (!Multiply(out->numerator, right.denominator, &a) || !Multiply(right.numerator, out->denominator, &b) ||
          !Multiply(out->denominator, right.denominator, &bottom)) {
        return false;
      }
      if (out->denominator == right.denominator) {
        a = out->numerator;
        b = right.numerator;
        bottom = out->denominator;
      }
      out->numerator = plus ? a + b : a - b;
      out->denominator = bottom;
      if (!Fits(out->numerator)) return false;
    }
  }

  bool ParseProduct(Rational* out) {
    if (!ParseUnary(out)) return false;
    for (;;) {
      Rational right;
      if (Take("//")) {
        if (!ParseUnary(&right) || out->scale || right.scale) return false;
        OptimDim a, b;
        if (!Multiply(out->numerator, right.denominator, &a) || !Multiply(out->denominator, right.numerator, &b))
          return false;
        *out = {FloorDiv(a, b), 1, {}};
      } else if (Take("/")) {
        if (!ParseUnary(&right) || right.scale) return false;
        OptimDim a, b;
        if (!Multiply(out->numerator, right.denominator, &a) || !Multiply(out->denominator, right.numerator, &b))
          return false;
        if (b == OptimDim(0)) return false;
        out->numerator = a;
        out->denominator = b;
      } else if (Take("%")) {
        if (!ParseUnary(&right) || !IsWhole(*out) || !IsWhole(right)) return false;
        out->numerator = Mod(out->numerator, right.numerator);
      } else if (Take("*")) {
        if (!ParseUnary(&right)) return false;
        OptimDim a, b;
        if (!Multiply(out->numerator, right.numerator, &a) || !Multiply(out->denominator, right.denominator, &b))
          return false;
        out->numerator = a;
        out->denominator = b;
        if (right.scale) out->scale = out->scale.value_or(1.0f) * *right.scale;
      } else {
        return true;
      }
      if (!Fits(out->numerator)) return false;
    }
  }

  bool ParseUnary(Rational* out) {
    bool negative = false;
    for (;;) {
      if (Take("-")) {
        negative = !negative;
      } else if (!Take("+")) {
        break;
      }
    }
    if (!ParsePower(out)) return false;
    if (negative) out->numerator = -out->numerator;
    return true;
  }

  bool ParsePower(Rational* out) {
    if (!ParsePrimary(out)) return false;
    if (!Take("**")) return true;
    if (++nesting_ > kMaxNesting) return false;
    Rational exponent;
    const bool read = ParseUnary(&exponent);
    --nesting_;
    if (!read || !IsWhole(exponent) || !IsWhole(*out) || !exponent.numerator.IsInt()) return false;
    const int64_t n = exponent.numerator.AsInt();
    if (n < 0 || n > kMaxExponent) return false;
    OptimDim power = 1;
    for (int64_t i = 0; i < n; ++i) {
      OptimDim next;
      if (!Multiply(power, out->numerator, &next)) return false;
      power = next;
    }
    out->numerator = power;
    return true;
  }

  bool ParsePrimary(Rational* out) {
    SkipSpaces();
    if (at_ >= text_.size()) return false;
    const char c = text_[at_];
    if (c == '(') {
      if (++nesting_ > kMaxNesting) return false;
      ++at_;
      const bool read = ParseSum(out) && Take(")");
      --nesting_;
      return read;
    }
    if (c == '\'') return ParseQuoted(out);
    if ((c >= '0' && c <= '9') || c == '.') return ParseNumber(out);
    size_t end = at_;
    while (end < text_.size() && IsIdentifier(text_.substr(at_, end + 1 - at_))) ++end;
    if (end == at_) return false;
    const std::string_view name = text_.substr(at_, end - at_);
    at_ = end;
    if (Take("(")) return ParseCall(name, out);
    AddName(name);
    *out = {OptimDim::Symbol(name), 1, {}};
    return true;
  }

  void AddName(std::string_view name) {
    has_name_ = true;
    if (identifiers_ != nullptr) identifiers_->emplace_back(name);
  }

  bool ParseQuoted(Rational* out) {
    std::string name;
    for (++at_; at_ < text_.size() && text_[at_] != '\''; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      name += text_[at_];
    }
    if (at_ >= text_.size()) return false;
    ++at_;
    AddName(name);
    *out = {OptimDim::Symbol(name), 1, {}};
    return true;
  }

  bool ParseNumber(Rational* out) {
    size_t end = at_;
    bool whole = true;
    while (end < text_.size()) {
      const char c = text_[end];
      const bool exponent = (c == 'e' || c == 'E') && end > at_;
      const bool sign = (c == '-' || c == '+') && (text_[end - (end > at_)] == 'e' || text_[end - (end > at_)] == 'E');
      if (!(c >= '0' && c <= '9') && c != '.' && !exponent && !(sign && end > at_)) break;
      whole &= c >= '0' && c <= '9';
      ++end;
    }
    const std::string number(text_.substr(at_, end - at_));
    const char* last = number.data() + number.size();
    if (whole) {
      int64_t value = 0;
      const auto read = std::from_chars(number.data(), last, value);
      if (read.ec != std::errc() || read.ptr != last) return false;
      *out = {value, 1, {}};
    } else {
      float value = 0;
      const auto read = std::from_chars(number.data(), last, value);
      if (read.ec != std::errc() || read.ptr != last) return false;
      *out = {1, 1, value};
    }
    at_ = end;
    // "2N" is a name.
    return at_ >= text_.size() || !IsIdentifier(text_.substr(at_, 1));
  }

  bool ParseCall(std::string_view function, Rational* out) {
    if (++nesting_ > kMaxNesting) return false;
    std::vector<Rational> args;
    do {
      if (!ParseSum(&args.emplace_back())) return false;
    } while (Take(","));
    --nesting_;
    if (!Take(")") || args.size() > kMaxArgs) return false;
    return Call(function, args, out) && Fits(out->numerator);
  }

  bool Call(std::string_view function, const std::vector<Rational>& args, Rational* out) {
    const bool ceil = function == "ceil" || function == "ceiling";
    if (function == "floor" || ceil) {
      if (args.size() != 1) return false;
      const Rational& x = args[0];
      if (x.scale) {
        // floor(-H*0.3) is not what FloorScale says of negative scales.
        if (ceil || x.denominator != OptimDim(1) || *x.scale < 0) return false;
        *out = {FloorScale(x.numerator, *x.scale), 1, {}};
      } else {
        *out = {ceil ? CeilDiv(x.numerator, x.denominator) : FloorDiv(x.numerator, x.denominator), 1, {}};
      }
      return true;
    }
    std::vector<OptimDim> dims;
    for (const Rational& arg : args) {
      if (!IsWhole(arg)) return false;
      dims.push_back(arg.numerator);
    }
    work_ += dims.size() * dims.size() * 8;
    if (function == "min" || function == "Min") {
      *out = {Min(dims), 1, {}};
    } else if (function == "max" || function == "Max") {
      *out = {Max(dims), 1, {}};
    } else if (function == "broadcast" || function == "bcast") {
      *out = {Broadcast(dims), 1, {}};
    } else if ((function == "Mod" || function == "mod") && dims.size() == 2) {
      *out = {Mod(dims[0], dims[1]), 1, {}};
    } else {
      return false;
    }
    return true;
  }

  std::string_view text_;
  std::vector<std::string>* identifiers_;
  size_t at_ = 0;
  int nesting_ = 0;
  size_t work_ = 0;
  bool has_name_ = false;
};

}  // namespace

bool ParseExpression(std::string_view text, OptimDim* dim, std::vector<std::string>* identifiers) {
  if (text.size() > kMaxText) return false;
  return Parser(text, identifiers).Run(dim);
}

}  // namespace expr

OptimDim OptimDim::Parse(std::string_view text) {
  OptimDim dim;
  if (!expr::IsIdentifier(text) && expr::ParseExpression(text, &dim, nullptr)) return dim;
  return Symbol(text);
}

OptimDim::OptimDim(const std::string& text) : OptimDim(Parse(text)) {}
OptimDim::OptimDim(const char* text) : OptimDim(Parse(text == nullptr ? std::string_view() : std::string_view(text))) {}

OptimDim DimFromParam(std::string_view text, const std::function<bool(std::string_view)>& is_known_symbol) {
  OptimDim dim;
  std::vector<std::string> identifiers;
  if (expr::IsIdentifier(text) || !expr::ParseExpression(text, &dim, &identifiers)) return OptimDim::Symbol(text);
  for (const std::string& name : identifiers) {
    if (!is_known_symbol(name)) return OptimDim::Symbol(text);
  }
  return dim;
}

}  // namespace onnx_optim
}  // namespace ONNX_LIGHT_NAMESPACE
