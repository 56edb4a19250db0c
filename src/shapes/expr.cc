// SPDX-License-Identifier: Apache-2.0
#include "shapes/expr.h"

#include <algorithm>
#include <functional>

#include "base/checked.h"
#include "fmt/format.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {
namespace expr {

uint64_t Mix(uint64_t a, uint64_t b) noexcept {
  uint64_t x = a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2));
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

int Compare(const Atom& a, const Atom& b) noexcept {
  if (&a == &b) return 0;
  if (const int order = a.key.compare(b.key); order != 0) return order;
  return static_cast<int>(a.kind) - static_cast<int>(b.kind);
}

int CompareMonomials(const std::vector<AtomRef>& a, const std::vector<AtomRef>& b) noexcept {
  if (a.size() != b.size()) return a.size() > b.size() ? -1 : 1;
  for (size_t i = 0; i < a.size(); ++i) {
    if (const int order = Compare(*a[i], *b[i]); order != 0) return order;
  }
  return 0;
}

const Atom* LoneAtom(const OptimDim& dim) noexcept {
  if (dim.poly() == nullptr || dim.constant() != 0 || dim.poly()->terms.size() != 1) return nullptr;
  const Term& term = dim.poly()->terms[0];
  return term.coefficient == 1 && term.factors.size() == 1 ? term.factors[0].get() : nullptr;
}

namespace {

// Terms sorted and without doubles. Null when there are none; false when the limits are passed.
bool MakePoly(std::vector<Term> terms, const Poly** out) {
  *out = nullptr;
  if (terms.empty()) return true;
  if (terms.size() > kMaxTerms) return false;
  size_t text = 0;
  uint64_t hash = 0x5851f42d4c957f2du;
  uint16_t depth = 0;
  bool opaque = false;
  for (const Term& term : terms) {
    if (term.factors.size() > kMaxDegree) return false;
    hash = Mix(hash, static_cast<uint64_t>(term.coefficient));
    text += 4;
    for (const AtomRef& atom : term.factors) {
      hash = Mix(hash, atom->hash);
      text += std::max(atom->key.size(), atom->written.size()) + 1;
      depth = std::max(depth, atom->depth);
      opaque |= atom->opaque;
    }
  }
  if (text > kMaxPolyText) return false;
  auto* poly = new Poly;
  poly->terms = std::move(terms);
  poly->hash = hash;
  poly->depth = depth;
  poly->opaque = opaque;
  poly->text_size = static_cast<uint32_t>(text);
  *out = poly;
  return true;
}

// a + sign * b, both sorted; false on overflow.
bool MergeTerms(std::span<const Term> a, std::span<const Term> b, bool negate, std::vector<Term>* out) {
  out->reserve(a.size() + b.size());
  auto signed_term = [&](const Term& term) -> bool {
    out->push_back(term);
    return !negate || !__builtin_sub_overflow(int64_t{0}, term.coefficient, &out->back().coefficient);
  };
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    const int order = CompareMonomials(a[i].factors, b[j].factors);
    if (order < 0) {
      out->push_back(a[i++]);
    } else if (order > 0) {
      if (!signed_term(b[j++])) return false;
    } else {
      int64_t sum;
      if (negate ? __builtin_sub_overflow(a[i].coefficient, b[j].coefficient, &sum)
                 : __builtin_add_overflow(a[i].coefficient, b[j].coefficient, &sum)) {
        return false;
      }
      if (sum != 0) out->push_back({sum, a[i].factors});
      ++i;
      ++j;
    }
  }
  out->insert(out->end(), a.begin() + static_cast<std::ptrdiff_t>(i), a.end());
  for (; j < b.size(); ++j) {
    if (!signed_term(b[j])) return false;
  }
  return true;
}

}  // namespace

OptimDim FromAtom(AtomRef atom) {
  std::vector<Term> terms(1);
  terms[0].coefficient = 1;
  terms[0].factors.push_back(std::move(atom));
  const Poly* poly;
  MakePoly(std::move(terms), &poly);
  return OptimDim::Adopt(0, poly);
}

OptimDim Overflow(std::string_view what, const OptimDim& a, const OptimDim& b) {
  const bool commutes = what == "+" || what == "*";
  const uint64_t first = commutes ? std::min(a.Hash(), b.Hash()) : a.Hash();
  const uint64_t second = commutes ? std::max(a.Hash(), b.Hash()) : b.Hash();
  const uint64_t hash = Mix(Mix(std::hash<std::string_view>()(what), first), second);
  auto* atom = new Atom;
  atom->kind = AtomKind::kOpaque;
  atom->opaque = true;
  atom->name = fmt::format("huge__{:016x}", hash);
  atom->key = "?" + atom->name;
  atom->hash = Mix(hash, static_cast<uint64_t>(AtomKind::kOpaque));
  return FromAtom(AtomRef(atom));
}

OptimDim FromTerms(std::vector<Term> terms, int64_t constant, std::string_view what, const OptimDim& a,
                   const OptimDim& b) {
  std::sort(terms.begin(), terms.end(),
            [](const Term& x, const Term& y) { return CompareMonomials(x.factors, y.factors) < 0; });
  size_t kept = 0;
  for (size_t i = 0; i < terms.size();) {
    Term sum = std::move(terms[i]);
    for (++i; i < terms.size() && CompareMonomials(sum.factors, terms[i].factors) == 0; ++i) {
      if (__builtin_add_overflow(sum.coefficient, terms[i].coefficient, &sum.coefficient)) return Overflow(what, a, b);
    }
    if (sum.coefficient == 0) continue;
    if (sum.factors.empty()) {
      if (__builtin_add_overflow(constant, sum.coefficient, &constant)) return Overflow(what, a, b);
    } else {
      terms[kept++] = std::move(sum);
    }
  }
  terms.resize(kept);
  const Poly* poly;
  if (!MakePoly(std::move(terms), &poly)) return Overflow(what, a, b);
  return OptimDim::Adopt(constant, poly);
}

bool DivideMonomial(const std::vector<AtomRef>& a, const std::vector<AtomRef>& b, std::vector<AtomRef>* quotient) {
  quotient->clear();
  size_t j = 0;
  for (const AtomRef& atom : a) {
    if (j < b.size() && SameAtom(*atom, *b[j])) {
      ++j;
    } else {
      quotient->push_back(atom);
    }
  }
  return j == b.size();
}

}  // namespace expr

using expr::Overflow;
using expr::Term;

void OptimDim::Retain(const expr::Poly* poly) noexcept { poly->refs.fetch_add(1, std::memory_order_relaxed); }
void OptimDim::Release(const expr::Poly* poly) noexcept {
  if (poly->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete poly;
}

bool OptimDim::SameExpr(const expr::Poly* a, const expr::Poly* b) noexcept {
  if (a->hash != b->hash || a->terms.size() != b->terms.size()) return false;
  for (size_t i = 0; i < a->terms.size(); ++i) {
    const Term& x = a->terms[i];
    const Term& y = b->terms[i];
    if (x.coefficient != y.coefficient || x.factors.size() != y.factors.size()) return false;
    for (size_t k = 0; k < x.factors.size(); ++k) {
      if (!expr::SameAtom(*x.factors[k], *y.factors[k])) return false;
    }
  }
  return true;
}

size_t OptimDim::Hash() const noexcept {
  return expr::Mix(static_cast<uint64_t>(value_), expr_ == nullptr ? 0 : expr_->hash);
}

OptimDim OptimDim::Add(const OptimDim& a, const OptimDim& b) {
  int64_t constant;
  if (__builtin_add_overflow(a.value_, b.value_, &constant)) return Overflow("+", a, b);
  if (a.expr_ == nullptr || b.expr_ == nullptr) {
    const expr::Poly* poly = a.expr_ == nullptr ? b.expr_ : a.expr_;
    if (poly != nullptr) Retain(poly);
    return Adopt(constant, poly);
  }
  std::vector<Term> terms;
  const expr::Poly* poly;
  if (!expr::MergeTerms(a.expr_->terms, b.expr_->terms, false, &terms) || !expr::MakePoly(std::move(terms), &poly)) {
    return Overflow("+", a, b);
  }
  return Adopt(constant, poly);
}

OptimDim OptimDim::Subtract(const OptimDim& a, const OptimDim& b) {
  int64_t constant;
  if (__builtin_sub_overflow(a.value_, b.value_, &constant)) return Overflow("-", a, b);
  if (b.expr_ == nullptr) {
    if (a.expr_ != nullptr) Retain(a.expr_);
    return Adopt(constant, a.expr_);
  }
  std::vector<Term> terms;
  const expr::Poly* poly;
  if (!expr::MergeTerms(expr::TermsOf(a), b.expr_->terms, true, &terms) || !expr::MakePoly(std::move(terms), &poly)) {
    return Overflow("-", a, b);
  }
  return Adopt(constant, poly);
}

OptimDim OptimDim::Multiply(const OptimDim& a, const OptimDim& b) {
  if (a.expr_ == nullptr && b.expr_ == nullptr) {
    const auto product = CheckedMul(a.value_, b.value_);
    return product ? OptimDim(*product) : Overflow("*", a, b);
  }
  if (a.expr_ == nullptr) return Multiply(b, a);
  if (b.expr_ == nullptr && b.value_ == 0) return OptimDim();
  if (b.expr_ == nullptr && b.value_ == 1) return a;
  const std::span<const Term> left = expr::TermsOf(a), right = expr::TermsOf(b);
  if ((left.size() + 1) * (right.size() + 1) > expr::kMaxProducts) return Overflow("*", a, b);
  std::vector<Term> terms;
  terms.reserve((left.size() + 1) * (right.size() + 1));
  for (size_t i = 0; i <= left.size(); ++i) {
    for (size_t j = 0; j <= right.size(); ++j) {
      const int64_t x = i < left.size() ? left[i].coefficient : a.value_;
      const int64_t y = j < right.size() ? right[j].coefficient : b.value_;
      if (x == 0 || y == 0) continue;
      Term& term = terms.emplace_back();
      if (__builtin_mul_overflow(x, y, &term.coefficient)) return Overflow("*", a, b);
      const std::vector<expr::AtomRef> none;
      const auto& p = i < left.size() ? left[i].factors : none;
      const auto& q = j < right.size() ? right[j].factors : none;
      if (p.size() + q.size() > expr::kMaxDegree) return Overflow("*", a, b);
      term.factors.reserve(p.size() + q.size());
      std::merge(p.begin(), p.end(), q.begin(), q.end(), std::back_inserter(term.factors),
                 [](const expr::AtomRef& s, const expr::AtomRef& t) { return expr::Compare(*s, *t) < 0; });
    }
  }
  return expr::FromTerms(std::move(terms), 0, "*", a, b);
}

OptimDim Sum(std::span<const OptimDim> dims) {
  if (dims.empty()) return OptimDim();
  if (dims.size() == 1) return dims[0];
  const size_t half = dims.size() / 2;
  return Sum(dims.first(half)) + Sum(dims.subspan(half));
}

OptimDim Product(std::span<const OptimDim> dims) {
  OptimDim product = 1;
  for (const OptimDim& dim : dims) product *= dim;
  return product;
}

}  // namespace onnx_optim
}  // namespace ONNX_LIGHT_NAMESPACE
