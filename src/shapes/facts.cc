// SPDX-License-Identifier: Apache-2.0
// The facts a ShapesContext holds about symbols: equalities as substitutions, bounds as intervals, the rest as a list.
#include <algorithm>

#include "fmt/format.h"
#include "onnx_optim/shapes/shapes_context.h"
#include "shapes/expr.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {
namespace shapes {

namespace {

constexpr int64_t kNoLower = std::numeric_limits<int64_t>::min();
constexpr int64_t kNoUpper = std::numeric_limits<int64_t>::max();
// Facts that could not be substituted are tried one by one: the newest of these only, so that a large graph stays
// linear.
constexpr size_t kMaxTried = 64;

bool Excludes0(const Interval& bounds) { return bounds.lower > 0 || bounds.upper < 0; }

// The term of `sum` that can be solved for: one symbol to the first power that nothing else mentions, with coefficient
// 1 or -1. Fresh symbols first, then those that stand alone as `second` or `first`.
const expr::Term* Solvable(const OptimDim& sum, const OptimDim& first, const OptimDim& second) {
  const expr::Term* best = nullptr;
  int best_rank = 0;
  const std::string* first_name = SymbolName(first);
  const std::string* second_name = SymbolName(second);
  for (const expr::Term& term : expr::TermsOf(sum)) {
    if (term.factors.size() != 1 || term.factors[0]->kind != expr::AtomKind::kSymbol) continue;
    if (term.coefficient != 1 && term.coefficient != -1) continue;
    const std::string& name = term.factors[0]->name;
    const OptimDim lone = expr::FromAtom(term.factors[0]);
    int rank = 1;
    if (second_name != nullptr && *second_name == name) rank = 3;
    if (first_name != nullptr && *first_name == name) rank = 2;
    if (IsFresh(lone)) rank += 3;
    if (rank <= best_rank || Mentions(sum - OptimDim(term.coefficient) * lone, name)) continue;
    best = &term;
    best_rank = rank;
  }
  return best;
}

}  // namespace

OptimDim ShapesContext::FreshDim(std::string_view hint) {
  std::string kept;
  for (const char c : hint.substr(0, 64)) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_') kept += c;
  }
  for (;;) {
    const int64_t number = counter_->fetch_add(1, std::memory_order_relaxed);
    const std::string name =
        kept.empty() ? fmt::format("{}{}", kFreshPrefix, number) : fmt::format("{}{}_{}", kFreshPrefix, kept, number);
    if (!IsKnownSymbol(name)) return OptimDim::Symbol(name);
  }
}

OptimDim ShapesContext::FreshDim(std::string_view hint, const Interval& bounds) {
  OptimDim dim = FreshDim(hint);
  const Interval kept{std::max<int64_t>(bounds.lower, 0), bounds.upper};
  if (kept.lower > 0 || kept.upper != kNoUpper) FactOf(*SymbolName(dim)).bounds = kept;
  return dim;
}

OptimDim ShapesContext::FreshDim(std::string_view hint, const OptimDim& lower, const OptimDim& upper) {
  OptimDim dim = FreshDim(hint, Interval{Bounds(lower).lower, Bounds(upper).upper});
  if (lower.IsExpr()) AddLessEqualConstraint(lower, dim);
  if (upper.IsExpr()) AddLessEqualConstraint(dim, upper);
  return dim;
}

void ShapesContext::DeclareSymbol(std::string_view name) {
  if (!IsKnownSymbol(name)) symbols_.emplace(name);
}

bool ShapesContext::IsKnownSymbol(std::string_view name) const noexcept {
  return symbols_.contains(name) || (parent_ != nullptr && parent_->IsKnownSymbol(name));
}

OptimDim ShapesContext::DimFromParam(std::string_view text) const {
  return onnx_optim::DimFromParam(text, [this](std::string_view name) { return IsKnownSymbol(name); });
}

const ShapesContext::SymbolFact* ShapesContext::FindFact(std::string_view symbol) const noexcept {
  for (const ShapesContext* scope = this; scope != nullptr; scope = scope->parent_) {
    if (const auto it = scope->facts_.find(symbol); it != scope->facts_.end()) return &it->second;
  }
  return nullptr;
}

ShapesContext::SymbolFact& ShapesContext::FactOf(const std::string& symbol) {
  if (const auto it = facts_.find(symbol); it != facts_.end()) return it->second;
  const SymbolFact* known = FindFact(symbol);
  return facts_.emplace(symbol, known == nullptr ? SymbolFact() : *known).first->second;
}

Interval ShapesContext::SymbolInterval(std::string_view symbol) const noexcept {
  const SymbolFact* fact = HasFacts() ? FindFact(symbol) : nullptr;
  return fact == nullptr ? Interval{0, kNoUpper} : fact->bounds;
}

OptimDim ShapesContext::Simplify(const OptimDim& dim) const {
  if (dim.IsInt() || !HasFacts()) return dim;
  OptimDim now = dim;
  // No substitution of one scope leads back to what it replaces, so a chain is no longer than the facts are many.
  size_t rounds = 1;
  for (const ShapesContext* scope = this; scope != nullptr; scope = scope->parent_) rounds += scope->facts_.size();
  for (; rounds > 0; --rounds) {
    OptimDim next = Substitute(now, [this](const std::string& name) {
      const SymbolFact* fact = FindFact(name);
      return fact == nullptr ? std::nullopt : fact->equal_to;
    });
    if (next == now) break;
    now = std::move(next);
  }
  return expr::WithoutBeaten(now, [this](std::string_view name) { return SymbolInterval(name); });
}

OptimShape ShapesContext::Simplify(const OptimShape& shape) const {
  if (!HasFacts()) return shape;
  OptimShape simple = shape;
  for (size_t i = 0; i < simple.Rank(); ++i) simple[i] = Simplify(simple[i]);
  return simple;
}

ShapeValue ShapesContext::Simplify(const ShapeValue& value) const {
  if (!HasFacts()) return value;
  return MapDims(value, [this](const OptimDim& dim) { return Simplify(dim); });
}

Interval ShapesContext::Bounds(const OptimDim& dim) const {
  if (dim.IsInt()) return {dim.AsInt(), dim.AsInt()};
  if (!HasFacts()) return BoundsOf(dim);
  return BoundsOf(Simplify(dim), [this](std::string_view name) { return SymbolInterval(name); });
}

bool ShapesContext::Equal(const OptimDim& a, const OptimDim& b) const {
  if (a == b) return true;
  if (a.IsInt() && b.IsInt()) return false;
  const OptimDim difference = Simplify(a) - Simplify(b);
  if (difference == OptimDim(0)) return true;
  if (difference.IsInt()) return false;
  size_t tried = 0;
  for (const ShapesContext* scope = this; scope != nullptr; scope = scope->parent_) {
    for (auto it = scope->unresolved_.rbegin(); it != scope->unresolved_.rend() && tried < kMaxTried; ++it, ++tried) {
      if (it->kind != Constraint::Kind::kEqual) continue;
      const OptimDim known = Simplify(it->a) - Simplify(it->b);
      if (difference == known || difference == -known) return true;
    }
  }
  return false;
}

bool ShapesContext::Equal(const OptimShape& a, const OptimShape& b) const {
  if (a.IsUnknown() != b.IsUnknown() || a.Rank() != b.Rank()) return false;
  for (size_t i = 0; i < a.Rank(); ++i) {
    if (!Equal(a[i], b[i])) return false;
  }
  return true;
}

bool ShapesContext::ProvablyDifferent(const OptimDim& a, const OptimDim& b) const {
  if (a.IsInt() && b.IsInt()) return a != b;
  const OptimDim difference = Simplify(a) - Simplify(b);
  return !expr::IsOpaque(difference) && Excludes0(Bounds(difference));
}

bool ShapesContext::ProvablyGreaterEqual(const OptimDim& a, const OptimDim& b) const {
  const OptimDim difference = Simplify(a) - Simplify(b);
  if (expr::IsOpaque(difference)) return false;
  if (Bounds(difference).lower >= 0) return true;
  size_t tried = 0;
  for (const ShapesContext* scope = this; scope != nullptr; scope = scope->parent_) {
    for (auto it = scope->unresolved_.rbegin(); it != scope->unresolved_.rend() && tried < kMaxTried; ++it, ++tried) {
      // a - b = (a - b - known) + known, and known >= 0.
      const OptimDim known = Simplify(it->b) - Simplify(it->a);
      if (Bounds(difference - known).lower >= 0) return true;
      if (it->kind == Constraint::Kind::kEqual && Bounds(difference + known).lower >= 0) return true;
    }
  }
  return false;
}

bool ShapesContext::Contradict(const Constraint& constraint) {
  const bool equal = constraint.kind == Constraint::Kind::kEqual;
  std::string message = fmt::format("{} and {} cannot be {}", constraint.a.ToString(), constraint.b.ToString(),
                                    equal ? "equal" : "in this order");
  if (!equal) message = fmt::format("{} cannot be at most {}", constraint.a.ToString(), constraint.b.ToString());
  if (!constraint.origin.empty()) message += fmt::format(", as {} says", constraint.origin);
  std::vector<std::string> names = Symbols(constraint.a);
  for (std::string& name : Symbols(constraint.b)) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  for (const std::string& name : names) {
    const SymbolFact* fact = FindFact(name);
    if (fact == nullptr) continue;
    if (fact->equal_to) {
      message += fmt::format("; {} is {}", name, Simplify(*fact->equal_to).ToString());
      if (!fact->origin.empty()) message += fmt::format(", as {} says", fact->origin);
    } else if (fact->bounds != Interval{0, kNoUpper}) {
      message += fmt::format("; {} is at least {}", name, fact->bounds.lower);
      if (fact->bounds.upper != kNoUpper) message += fmt::format(" and at most {}", fact->bounds.upper);
      if (!fact->bound_origin.empty()) message += fmt::format(", as {} says", fact->bound_origin);
    }
  }
  AddProblem(Problem::Level::kError, std::move(message));
  return false;
}

bool ShapesContext::Tighten(const std::string& symbol, const Interval& bounds, const Constraint& constraint) {
  const Interval old = SymbolInterval(symbol);
  const Interval both{std::max(old.lower, bounds.lower), std::min(old.upper, bounds.upper)};
  if (both.lower > both.upper) return Contradict(constraint);
  if (both == old) return true;
  SymbolFact& fact = FactOf(symbol);
  fact.bounds = both;
  fact.bound_origin = constraint.origin;
  return true;
}

bool ShapesContext::AddConstraint(const OptimDim& a, const OptimDim& b, std::string_view origin) {
  Constraint constraint{Constraint::Kind::kEqual, a, b, std::string(origin)};
  const OptimDim x = Simplify(a), y = Simplify(b);
  // The way just gone is short from now on.
  for (const auto& [dim, simple] : {std::pair(&a, &x), std::pair(&b, &y)}) {
    const std::string* name = SymbolName(*dim);
    const auto it = name == nullptr ? facts_.end() : facts_.find(*name);
    if (it != facts_.end() && it->second.equal_to) it->second.equal_to = *simple;
  }
  if (x == y) {
    if (a != b) constraints_.push_back(std::move(constraint));
    return true;
  }
  const OptimDim difference = x - y;
  if (difference.IsInt() || (!expr::IsOpaque(difference) && Excludes0(Bounds(difference))))
    return Contradict(constraint);
  if (expr::IsOpaque(difference)) {
    unresolved_.push_back(constraint);
    constraints_.push_back(std::move(constraint));
    return true;
  }
  const std::span<const expr::Term> terms = expr::TermsOf(difference);
  if (terms.size() == 1 && terms[0].factors.size() == 1 && terms[0].factors[0]->kind == expr::AtomKind::kSymbol) {
    // c*S + k = 0.
    const int64_t c = terms[0].coefficient, k = difference.constant();
    const std::string& name = terms[0].factors[0]->name;
    if (c == kNoLower || k == kNoLower || k % c != 0) return Contradict(constraint);
    const OptimDim value = -k / c;
    if (value == OptimDim(0) && x.IsExpr() && y.IsExpr() && !IsFresh(OptimDim::Symbol(name))) {
      // 2*N = N: no more than a doubt, since a dim may be 0, and nothing an author can mean.
      std::string message = fmt::format("{} and {} are equal only if {} is 0", a.ToString(), b.ToString(), name);
      if (!origin.empty()) message += fmt::format(", as {} says they are", origin);
      AddProblem(Problem::Level::kWarning, std::move(message));
      return true;
    }
    SymbolFact& fact = FactOf(name);
    fact.equal_to = value;
    fact.origin = constraint.origin;
  } else if (const expr::Term* term = Solvable(difference, x, y)) {
    const std::string& name = term->factors[0]->name;
    const OptimDim rest = difference - OptimDim(term->coefficient) * expr::FromAtom(term->factors[0]);
    const OptimDim value = term->coefficient == 1 ? -rest : rest;
    // What is known of the symbol's size goes over to the one it is replaced by.
    if (const std::string* other = SymbolName(value);
        other != nullptr && !Tighten(*other, SymbolInterval(name), constraint)) {
      return false;
    }
    SymbolFact& fact = FactOf(name);
    fact.equal_to = value;
    fact.origin = constraint.origin;
  } else {
    unresolved_.push_back(constraint);
  }
  constraints_.push_back(std::move(constraint));
  return true;
}

bool ShapesContext::AddLessEqualConstraint(const OptimDim& a, const OptimDim& b, std::string_view origin) {
  Constraint constraint{Constraint::Kind::kLessEqual, a, b, std::string(origin)};
  const OptimDim x = Simplify(a), y = Simplify(b);
  const OptimDim difference = y - x;
  const Interval bounds = expr::IsOpaque(difference) ? Interval{kNoLower, kNoUpper} : Bounds(difference);
  if (bounds.upper < 0) return Contradict(constraint);
  if (bounds.lower < 0) {
    // c*S + k >= 0.
    const std::span<const expr::Term> terms = expr::TermsOf(difference);
    const bool of_one = terms.size() == 1 && terms[0].factors.size() == 1 && !expr::IsOpaque(difference) &&
                        terms[0].factors[0]->kind == expr::AtomKind::kSymbol;
    if (of_one && terms[0].coefficient != kNoLower && difference.constant() != kNoLower) {
      const int64_t c = terms[0].coefficient, k = difference.constant();
      const Interval interval =
          c > 0 ? Interval{-expr::FloorInt(k, c), kNoUpper} : Interval{kNoLower, expr::FloorInt(k, -c)};
      if (!Tighten(terms[0].factors[0]->name, interval, constraint)) return false;
      constraints_.push_back(std::move(constraint));
      return true;
    }
    const std::string* small = SymbolName(x);
    const std::string* large = SymbolName(y);
    if (small != nullptr && !Tighten(*small, {kNoLower, Bounds(y).upper}, constraint)) return false;
    if (large != nullptr && !Tighten(*large, {Bounds(x).lower, kNoUpper}, constraint)) return false;
    if (x.IsExpr() && y.IsExpr()) unresolved_.push_back(constraint);
    if ((x.IsInt() && large == nullptr) || (y.IsInt() && small == nullptr)) unresolved_.push_back(constraint);
  }
  constraints_.push_back(std::move(constraint));
  return true;
}

}  // namespace shapes
}  // namespace onnx_optim
}  // namespace ONNX_LIGHT_NAMESPACE
