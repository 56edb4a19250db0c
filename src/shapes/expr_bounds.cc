// SPDX-License-Identifier: Apache-2.0
// What can be proven of the size of an expression: interval arithmetic, sharpened by the definitions of floor, min and
// max.
#include <algorithm>

#include "base/checked.h"
#include "shapes/expr.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {
namespace expr {
namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::min();    // no lower bound
constexpr int64_t kNoneUp = std::numeric_limits<int64_t>::max();  // no upper bound

int64_t Saturate(__int128 x) {
  if (x <= kNone) return kNone;
  if (x >= kNoneUp) return kNoneUp;
  return static_cast<int64_t>(x);
}
// An infinite end swallows what is added to it.
int64_t AddEnd(int64_t a, int64_t b, int64_t infinite) {
  if (a == infinite || b == infinite) return infinite;
  return Saturate(static_cast<__int128>(a) + b);
}
Interval AddIntervals(const Interval& a, const Interval& b) {
  return {AddEnd(a.lower, b.lower, kNone), AddEnd(a.upper, b.upper, kNoneUp)};
}
int64_t MultiplyEnds(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  const bool infinite = a == kNone || a == kNoneUp || b == kNone || b == kNoneUp;
  if (infinite) return (a < 0) == (b < 0) ? kNoneUp : kNone;
  return Saturate(static_cast<__int128>(a) * b);
}
Interval MultiplyIntervals(const Interval& a, const Interval& b) {
  const int64_t ends[] = {MultiplyEnds(a.lower, b.lower), MultiplyEnds(a.lower, b.upper),
                          MultiplyEnds(a.upper, b.lower), MultiplyEnds(a.upper, b.upper)};
  return {*std::min_element(std::begin(ends), std::end(ends)), *std::max_element(std::begin(ends), std::end(ends))};
}
int64_t FloorEnd(int64_t a, int64_t q) { return a == kNone || a == kNoneUp ? a : FloorInt(a, q); }

class Prover {
 public:
  explicit Prover(const SymbolBounds& bounds) : bounds_(bounds) {}

  Interval Of(const OptimDim& dim, int depth) {
    if (dim.IsInt()) return {dim.AsInt(), dim.AsInt()};
    Interval plain = Plain(dim);
    if (depth > 0 && dim.poly()->terms.size() <= 16 && !IsOpaque(dim)) {
      plain.lower = std::max(plain.lower, Sharpened(dim, depth));
      const int64_t negated = Sharpened(-dim, depth);
      if (negated != kNone && negated != kNoneUp) plain.upper = std::min(plain.upper, -negated);
    }
    return plain;
  }

 private:
  Interval Plain(const OptimDim& dim) {
    Interval sum{dim.constant(), dim.constant()};
    for (const Term& term : TermsOf(dim)) {
      Interval product{term.coefficient, term.coefficient};
      for (const AtomRef& factor : term.factors) product = MultiplyIntervals(product, OfAtom(*factor));
      sum = AddIntervals(sum, product);
    }
    return sum;
  }

  Interval OfAtom(const Atom& atom) {
    if (++steps_ > 4000) return {};
    switch (atom.kind) {
      case AtomKind::kSymbol:
        return bounds_ ? bounds_(atom.name) : Interval{0, kNoneUp};
      case AtomKind::kOpaque:
        return {};
      case AtomKind::kFloorDiv: {
        const Interval a = Of(atom.args[0], 1);
        const Interval b = Of(atom.args[1], 0);
        if (b.lower == b.upper && b.lower > 0) return {FloorEnd(a.lower, b.lower), FloorEnd(a.upper, b.lower)};
        // A divisor of at least 1: the quotient lies between the numerator and 0, or below -1 no further than the
        // numerator.
        if (b.lower < 0) return {};
        return {a.lower >= 0 ? 0 : a.lower, a.upper >= 0 ? a.upper : -1};
      }
      case AtomKind::kMin:
      case AtomKind::kMax: {
        Interval all = Of(atom.args[0], 1);
        for (size_t i = 1; i < atom.args.size(); ++i) {
          const Interval next = Of(atom.args[i], 1);
          const bool is_min = atom.kind == AtomKind::kMin;
          all.lower = is_min ? std::min(all.lower, next.lower) : std::max(all.lower, next.lower);
          all.upper = is_min ? std::min(all.upper, next.upper) : std::max(all.upper, next.upper);
        }
        if (atom.kind == AtomKind::kMax && atom.args.size() == 2) {
          // At least the mean of both: max(N-M,M-N) is not negative.
          const OptimDim both = atom.args[0] + atom.args[1];
          const int64_t bound = IsOpaque(both) ? kNone : Of(both, 0).lower;
          if (bound != kNone && bound != kNoneUp) all.lower = std::max(all.lower, -FloorInt(-bound, 2));
        }
        return all;
      }
      case AtomKind::kBroadcast: {
        // One of the arguments.
        Interval all = Of(atom.args[0], 1);
        for (size_t i = 1; i < atom.args.size(); ++i) {
          const Interval next = Of(atom.args[i], 1);
          all = {std::min(all.lower, next.lower), std::max(all.upper, next.upper)};
        }
        return all;
      }
      case AtomKind::kFloorScale: {
        const Interval a = Of(atom.args[0], 1);
        return {a.lower >= 0 ? 0 : kNone, atom.scale <= 1 && a.upper >= 0 ? a.upper : kNoneUp};
      }
    }
    return {};
  }

  // The best lower bound of `dim` after replacing its first floor, min or max by something that makes `dim` no larger.
  int64_t Sharpened(const OptimDim& dim, int depth) {
    if (++steps_ > 4000) return kNone;
    for (const Term& term : TermsOf(dim)) {
      if (term.factors.size() != 1) continue;
      const AtomRef& atom = term.factors[0];
      const bool add = term.coefficient > 0;
      const OptimDim lone = FromAtom(atom);
      const OptimDim rest = dim - OptimDim(term.coefficient) * lone;
      int64_t best = kNone;
      auto consider = [&](const OptimDim& lower, int64_t divisor) {
        if (IsOpaque(lower)) return;
        const int64_t bound = Of(lower, depth - 1).lower;
        if (bound == kNone) return;
        const int64_t scaled = bound == kNoneUp ? bound : -FloorInt(-bound, divisor);  // ceil: dim is a whole number
        best = std::max(best, scaled);
      };
      if (atom->kind == AtomKind::kFloorDiv && atom->args[1].IsInt() && atom->args[1].AsInt() > 0) {
        // q*floor(x/q) is at most x, at least x - (q-1).
        const int64_t q = atom->args[1].AsInt();
        const OptimDim x = add ? atom->args[0] - (q - 1) : atom->args[0];
        consider(rest * q + OptimDim(term.coefficient) * x, q);
        return best;
      }
      if (atom->kind == (add ? AtomKind::kMax : AtomKind::kMin)) {
        for (size_t i = 0; i < std::min<size_t>(atom->args.size(), 4); ++i) {
          consider(rest + OptimDim(term.coefficient) * atom->args[i], 1);
        }
        return best;
      }
      if (atom->kind == (add ? AtomKind::kMin : AtomKind::kMax) && atom->args.size() <= 4) {
        // It is one of its arguments: the worst of them bounds.
        int64_t worst = kNoneUp;
        for (const OptimDim& arg : atom->args) {
          const OptimDim lower = rest + OptimDim(term.coefficient) * arg;
          worst = std::min(worst, IsOpaque(lower) ? kNone : Of(lower, depth - 1).lower);
        }
        return worst;
      }
    }
    return kNone;
  }

  const SymbolBounds& bounds_;
  int steps_ = 0;
};

}  // namespace
}  // namespace expr

Interval BoundsOf(const OptimDim& dim, const SymbolBounds& bounds) { return expr::Prover(bounds).Of(dim, 4); }

std::optional<int64_t> LowerBound(const OptimDim& dim, const SymbolBounds& bounds) {
  const int64_t lower = BoundsOf(dim, bounds).lower;
  return lower == expr::kNone && dim.IsExpr() ? std::nullopt : std::optional(lower);
}

std::optional<int64_t> UpperBound(const OptimDim& dim, const SymbolBounds& bounds) {
  const int64_t upper = BoundsOf(dim, bounds).upper;
  return upper == expr::kNoneUp && dim.IsExpr() ? std::nullopt : std::optional(upper);
}

bool IsProvablyGreaterEqual(const OptimDim& a, const OptimDim& b, const SymbolBounds& bounds) {
  if (a == b) return true;
  const OptimDim difference = a - b;
  return !expr::IsOpaque(difference) && BoundsOf(difference, bounds).lower >= 0;
}

}  // namespace onnx_optim
}  // namespace ONNX_LIGHT_NAMESPACE
