// SPDX-License-Identifier: Apache-2.0
// The one spelling of an expression.
#include <ostream>

#include "base/checked.h"
#include "fmt/format.h"
#include "shapes/expr.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {
namespace expr {

bool IsIdentifier(std::string_view text) noexcept {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  for (const char c : text) {
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')) return false;
  }
  return true;
}

std::string Quote(std::string_view name) {
  std::string text = "'";
  for (const char c : name) {
    if (c == '\'' || c == '\\') text += '\\';
    text += c;
  }
  text += '\'';
  return text;
}

std::string Spell(const OptimDim& dim, bool as_written) {
  const std::span<const Term> terms = TermsOf(dim);
  int64_t constant = dim.constant();
  // Lone quotients are written with their author's offset, the rest of which belongs to the constant.
  if (as_written) {
    for (const Term& term : terms) {
      if (term.factors.size() != 1 || term.factors[0]->shift == 0) continue;
      const auto moved = CheckedMul(term.coefficient, term.factors[0]->shift);
      if (!moved || __builtin_add_overflow(constant, *moved, &constant)) return Spell(dim, false);
    }
  }
  std::string out;
  for (const Term& term : terms) {
    if (term.coefficient < 0) {
      out += '-';
    } else if (!out.empty()) {
      out += '+';
    }
    const uint64_t size =
        term.coefficient < 0 ? 0 - static_cast<uint64_t>(term.coefficient) : static_cast<uint64_t>(term.coefficient);
    bool first = true;
    if (size != 1) {
      out += fmt::format("{}", size);
      first = false;
    }
    for (const AtomRef& factor : term.factors) {
      if (!first) out += '*';
      first = false;
      const bool shown = as_written && !factor->written.empty() && (factor->shift == 0 || term.factors.size() == 1);
      const std::string& text = shown ? factor->written : factor->key;
      // An overflow's key is marked so that it differs from an author's name; its text is not.
      const std::string_view bare =
          factor->kind == AtomKind::kOpaque && as_written ? std::string_view(factor->name) : text;
      if (factor->kind == AtomKind::kFloorDiv && (term.coefficient != 1 || term.factors.size() > 1)) {
        out += '(';
        out += bare;
        out += ')';
      } else {
        out += bare;
      }
    }
  }
  if (constant != 0 || terms.empty()) {
    if (constant > 0 && !out.empty()) out += '+';
    out += fmt::format("{}", constant);
  }
  return out;
}

}  // namespace expr

std::string OptimDim::ToString() const {
  if (expr_ == nullptr) return fmt::format("{}", value_);
  if (const std::string* name = SymbolName(*this)) return *name;
  return expr::Spell(*this, true);
}

std::string OptimDim::AsExpr() const {
  if (expr_ == nullptr) throw BadDimAccess(fmt::format("dim {} is an integer, not an expression", value_));
  return ToString();
}

void OptimDim::ThrowNotInt() const {
  throw BadDimAccess(fmt::format("dim '{}' is an expression, not an integer", ToString()));
}

void OptimDim::ThrowTooLarge(uint64_t value) {
  throw OutOfRange(fmt::format("dim {} is larger than {}", value, std::numeric_limits<int64_t>::max()));
}

std::ostream& OptimDim::Print(std::ostream& out, const OptimDim& dim) { return out << dim.ToString(); }

BadDimAccess::BadDimAccess(std::string fact) : Error({}, std::move(fact)) {}

const std::string* SymbolName(const OptimDim& dim) noexcept {
  const expr::Atom* atom = expr::LoneAtom(dim);
  if (atom == nullptr || (atom->kind != expr::AtomKind::kSymbol && atom->kind != expr::AtomKind::kOpaque))
    return nullptr;
  return &atom->name;
}

}  // namespace onnx_optim
}  // namespace ONNX_LIGHT_NAMESPACE
