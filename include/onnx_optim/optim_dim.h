// SPDX-License-Identifier: Apache-2.0
// OptimDim: one dimension of a shape, an integer or a symbolic expression in canonical form, and the algebra over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "onnx_proto/config.h"
#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {

namespace expr {
struct Poly;
}  // namespace expr

// Asking a dimension for the kind it is not.
class ONNXSEQ_API BadDimAccess : public std::bad_variant_access, public Error {
 public:
  explicit BadDimAccess(std::string fact);
  const char* what() const noexcept override { return Error::what(); }
};

// A value: two words, cheap to copy, immutable but for assignment; distinct objects may be used by distinct threads.
//
// Inside: an integer plus an optional polynomial (integer coefficients over symbols, floor divisions, min, max,
// broadcast and floor(x*scale)). There is no table of names: equality compares forms, so OptimDim("N") + 1 ==
// OptimDim("1+N"). Symbols stand for integers >= 0. What does not fit (64-bit coefficients, 1,024 terms, degree 32,
// depth 48, 4,096 characters of one function, 32,768 of all) becomes one opaque name derived from the operation and its
// operands: equal operations stay equal, nothing else is known of it.
//
// Equal functions are equal where the normal forms see it: (N-1)//2+1 == (N+1)//2, max(N,M) == max(M,N). Each is
// written as the formula that made it, so these two keep their own spelling. In an expression a name that is no C
// identifier is quoted: 'past length'+1.
class ONNXSEQ_API OptimDim {
 public:
  // The integer 0.
  OptimDim() noexcept = default;
  // The integer. std::out_of_range when an unsigned value is above INT64_MAX.
  template <class T>
    requires(std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char>)
  OptimDim(T value) : value_(Narrow(value)) {}  // NOLINT(google-explicit-constructor): documented as implicit
  // An expression when `text` is one over C identifiers ("2*N+1", "(N-1)//2+1", "max(N-6,0)", "N%4", "ceil(N/2)",
  // sympy's floor, ceiling, Max, Min, Mod, **); any other text ("past length", "28", "") is one opaque name, verbatim.
  // Never throws for what the text says; hostile texts (too long, too deep) are opaque names.
  OptimDim(const std::string& text);  // NOLINT(google-explicit-constructor)
  OptimDim(const char* text);         // NOLINT(google-explicit-constructor)
  OptimDim(std::nullptr_t) = delete;
  // `name` verbatim, never parsed.
  static OptimDim Symbol(std::string_view name);
  // As the constructor from text.
  static OptimDim Parse(std::string_view text);

  OptimDim(const OptimDim& other) noexcept : value_(other.value_), expr_(other.expr_) {
    if (expr_ != nullptr) Retain(expr_);
  }
  OptimDim(OptimDim&& other) noexcept
      : value_(std::exchange(other.value_, 0)), expr_(std::exchange(other.expr_, nullptr)) {}
  OptimDim& operator=(const OptimDim& other) noexcept {
    OptimDim copy(other);
    swap(*this, copy);
    return *this;
  }
  OptimDim& operator=(OptimDim&& other) noexcept {
    swap(*this, other);
    return *this;
  }
  ~OptimDim() {
    if (expr_ != nullptr) Release(expr_);
  }
  friend void swap(OptimDim& a, OptimDim& b) noexcept {
    std::swap(a.value_, b.value_);
    std::swap(a.expr_, b.expr_);
  }

  bool IsInt() const noexcept { return expr_ == nullptr; }
  bool IsExpr() const noexcept { return expr_ != nullptr; }
  // The integer; std::bad_variant_access for an expression.
  int64_t AsInt() const {
    if (expr_ != nullptr) ThrowNotInt();
    return value_;
  }
  // The one spelling ("2*N+1"; an opaque name verbatim); std::bad_variant_access for an integer.
  std::string AsExpr() const;
  // The integer in decimal, or AsExpr.
  std::string ToString() const;
  size_t Hash() const noexcept;

  friend bool operator==(const OptimDim& a, const OptimDim& b) noexcept {
    return a.value_ == b.value_ &&
           (a.expr_ == b.expr_ || (a.expr_ != nullptr && b.expr_ != nullptr && SameExpr(a.expr_, b.expr_)));
  }
  friend OptimDim operator+(const OptimDim& a, const OptimDim& b) { return Add(a, b); }
  friend OptimDim operator-(const OptimDim& a, const OptimDim& b) { return Subtract(a, b); }
  friend OptimDim operator*(const OptimDim& a, const OptimDim& b) { return Multiply(a, b); }
  OptimDim operator-() const { return Subtract(OptimDim(), *this); }
  OptimDim& operator+=(const OptimDim& b) { return *this = Add(*this, b); }
  OptimDim& operator-=(const OptimDim& b) { return *this = Subtract(*this, b); }
  OptimDim& operator*=(const OptimDim& b) { return *this = Multiply(*this, b); }
  friend std::ostream& operator<<(std::ostream& out, const OptimDim& dim) { return Print(out, dim); }

  // For the algebra: the constant part and the rest (null for an integer). `expr` must have no constant term of its
  // own; takes over one reference.
  int64_t constant() const noexcept { return value_; }
  const expr::Poly* poly() const noexcept { return expr_; }
  static OptimDim Adopt(int64_t constant, const expr::Poly* expr) noexcept {
    OptimDim dim;
    dim.value_ = constant;
    dim.expr_ = expr;
    return dim;
  }

 private:
  template <class T>
  static int64_t Narrow(T value) {
    if constexpr (std::is_unsigned_v<T> && sizeof(T) >= sizeof(int64_t)) {
      if (value > static_cast<T>(std::numeric_limits<int64_t>::max())) ThrowTooLarge(value);
    }
    return static_cast<int64_t>(value);
  }
  [[noreturn]] static void ThrowTooLarge(uint64_t value);
  [[noreturn]] void ThrowNotInt() const;
  static void Retain(const expr::Poly* expr) noexcept;
  static void Release(const expr::Poly* expr) noexcept;
  static bool SameExpr(const expr::Poly* a, const expr::Poly* b) noexcept;
  static OptimDim Add(const OptimDim& a, const OptimDim& b);
  static OptimDim Subtract(const OptimDim& a, const OptimDim& b);
  static OptimDim Multiply(const OptimDim& a, const OptimDim& b);
  static std::ostream& Print(std::ostream& out, const OptimDim& dim);

  int64_t value_ = 0;
  const expr::Poly* expr_ = nullptr;
};
static_assert(sizeof(OptimDim) == 16);

// The dimension a file's dim_param names: an expression only when every identifier in it is a known symbol ("a-b" is
// one name unless both a and b are); a plain identifier is a symbol; anything else is one opaque name.
ONNXSEQ_API OptimDim DimFromParam(std::string_view text, const std::function<bool(std::string_view)>& is_known_symbol);

// floor(a / b). For b <= 0 only what holds for every integer is simplified; b = 0 stays an expression without a value.
ONNXSEQ_API OptimDim FloorDiv(const OptimDim& a, const OptimDim& b);
// ceil(a / b), written (a+b-1)//b; a symbolic b is taken to be positive.
ONNXSEQ_API OptimDim CeilDiv(const OptimDim& a, const OptimDim& b);
// a - b * floor(a / b).
ONNXSEQ_API OptimDim Mod(const OptimDim& a, const OptimDim& b);
// Arguments that another one provably bounds are dropped.
ONNXSEQ_API OptimDim Min(std::span<const OptimDim> dims);
ONNXSEQ_API OptimDim Max(std::span<const OptimDim> dims);
ONNXSEQ_API OptimDim Min(const OptimDim& a, const OptimDim& b);
ONNXSEQ_API OptimDim Max(const OptimDim& a, const OptimDim& b);
// The dim of a broadcast of dims that are all equal or 1: an argument that cannot be 1 is the answer. Arguments known
// to differ (2 and 3) are the caller's to refuse; the first that is not 1 is returned.
ONNXSEQ_API OptimDim Broadcast(std::span<const OptimDim> dims);
ONNXSEQ_API OptimDim Broadcast(const OptimDim& a, const OptimDim& b);
// floor(a * scale) in float arithmetic, as Resize defines it; a quotient like 3*H//2 when scale is exact in few bits.
ONNXSEQ_API OptimDim FloorScale(const OptimDim& a, float scale);
// The sum, in n log n steps.
ONNXSEQ_API OptimDim Sum(std::span<const OptimDim> dims);
// The product, 1 when empty.
ONNXSEQ_API OptimDim Product(std::span<const OptimDim> dims);
// The q with q * b == a, when polynomial division leaves nothing; nothing when b is 0 or does not divide a.
[[nodiscard]] ONNXSEQ_API std::optional<OptimDim> ExactDiv(const OptimDim& a, const OptimDim& b);

// The name when `dim` is one symbol or opaque name alone, else null. Valid as long as a copy of `dim` lives.
[[nodiscard]] ONNXSEQ_API const std::string* SymbolName(const OptimDim& dim) noexcept;
// The names in `dim`, sorted, each once.
ONNXSEQ_API std::vector<std::string> Symbols(const OptimDim& dim);
[[nodiscard]] ONNXSEQ_API bool Mentions(const OptimDim& dim, std::string_view symbol) noexcept;
// `dim` with each symbol replaced by what `replacement` returns for it (nothing = kept).
ONNXSEQ_API OptimDim Substitute(const OptimDim& dim,
                                const std::function<std::optional<OptimDim>(const std::string&)>& replacement);
ONNXSEQ_API OptimDim Substitute(const OptimDim& dim, std::string_view symbol, const OptimDim& replacement);
// The number under `binding`; nothing when a symbol has none, a divisor is 0, broadcast arguments disagree, or it
// overflows.
[[nodiscard]] ONNXSEQ_API std::optional<int64_t> Evaluate(
    const OptimDim& dim, const std::function<std::optional<int64_t>(std::string_view)>& binding);

// Bounds of one symbol; the far ends stand for "none known".
struct Interval {
  int64_t lower = std::numeric_limits<int64_t>::min();
  int64_t upper = std::numeric_limits<int64_t>::max();
  friend bool operator==(const Interval&, const Interval&) = default;
};
// Gives a symbol's bounds; symbols are >= 0 where none is given.
using SymbolBounds = std::function<Interval(std::string_view)>;
// What is provable of `dim` by intervals and the definitions of floor, min and max.
ONNXSEQ_API Interval BoundsOf(const OptimDim& dim, const SymbolBounds& bounds = {});
[[nodiscard]] ONNXSEQ_API std::optional<int64_t> LowerBound(const OptimDim& dim, const SymbolBounds& bounds = {});
[[nodiscard]] ONNXSEQ_API std::optional<int64_t> UpperBound(const OptimDim& dim, const SymbolBounds& bounds = {});
// a >= b in every run.
[[nodiscard]] ONNXSEQ_API bool IsProvablyGreaterEqual(const OptimDim& a, const OptimDim& b,
                                                      const SymbolBounds& bounds = {});

// Fresh symbols are named "unk__0", "unk__nnz_1": what no author named. See ShapesContext::FreshDim.
inline constexpr std::string_view kFreshPrefix = "unk__";
// `dim` is one such symbol alone.
[[nodiscard]] ONNXSEQ_API bool IsFresh(const OptimDim& dim) noexcept;
// `dim` has such a symbol in it.
[[nodiscard]] ONNXSEQ_API bool MentionsFresh(const OptimDim& dim) noexcept;

}  // namespace onnx_optim

using onnx_optim::OptimDim;

}  // namespace ONNX_LIGHT_NAMESPACE

template <>
struct std::hash<ONNX_LIGHT_NAMESPACE::onnx_optim::OptimDim> {
  size_t operator()(const ONNX_LIGHT_NAMESPACE::onnx_optim::OptimDim& dim) const noexcept { return dim.Hash(); }
};
