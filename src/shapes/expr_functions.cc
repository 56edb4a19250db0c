// SPDX-License-Identifier: Apache-2.0
// Floor division, min, max, broadcast and floor(x*scale), with the normal forms that make equal functions equal nodes.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/checked.h"
#include "fmt/format.h"
#include "shapes/expr.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {
namespace expr {
namespace {

constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min();

// The atom `kind` of `args`, spelled `key` and `written`; an overflow name when it is too deep or too long.
OptimDim MakeAtom(AtomKind kind, std::vector<OptimDim> args, std::string key, std::string written, int64_t shift = 0,
                  float scale = 0) {
  int depth = 0;
  bool opaque = false;
  for (const OptimDim& arg : args) {
    depth = std::max<int>(depth, DepthOf(arg));
    opaque |= IsOpaque(arg);
  }
  if (depth >= kMaxDepth || key.size() > kMaxAtomText || written.size() > kMaxAtomText) {
    OptimDim all;
    for (const OptimDim& arg : args) all = Overflow(",", all, arg);
    return Overflow(fmt::format("function {}", static_cast<int>(kind)), all, OptimDim());
  }
  auto* atom = new Atom;
  AtomRef ref(atom);
  atom->kind = kind;
  atom->opaque = opaque;
  atom->depth = static_cast<uint16_t>(depth + 1);
  atom->scale = scale;
  atom->shift = shift;
  atom->hash = Mix(std::hash<std::string>()(key), static_cast<uint64_t>(kind));
  atom->key = std::move(key);
  atom->written = std::move(written);
  atom->args = std::move(args);
  return FromAtom(std::move(ref));
}

// A factor of // : a sum, a quotient or a negative number stands in parentheses.
std::string SpellOperand(const OptimDim& dim, bool as_written, bool divisor) {
  std::string text = Spell(dim, as_written);
  const std::span<const Term> terms = TermsOf(dim);
  bool plain;
  if (terms.empty()) {
    plain = dim.constant() >= 0;
  } else if (terms.size() > 1 || dim.constant() != 0) {
    plain = false;
  } else {
    const Term& term = terms[0];
    const bool single = term.factors.size() == 1;
    if (single && term.coefficient == 1) {
      plain = term.factors[0]->kind != AtomKind::kFloorDiv;
    } else {
      // A lone quotient written with its author's offset spells as a sum.
      plain = !divisor && term.coefficient > 0 && !(as_written && single && term.factors[0]->shift != 0);
    }
  }
  return plain ? text : "(" + text + ")";
}

OptimDim MakeFloorDiv(const OptimDim& numerator, const OptimDim& divisor, int64_t shift) {
  std::string key = SpellOperand(numerator, false, false) + "//" + SpellOperand(divisor, false, true);
  OptimDim shown = numerator;
  if (shift != 0) {
    // written + shift = floor(numerator / divisor), so written = floor((numerator - shift * divisor) / divisor).
    shown = numerator - OptimDim(shift) * divisor;
    if (IsOpaque(shown)) {
      shown = numerator;
      shift = 0;
    }
  }
  std::string written = SpellOperand(shown, true, false) + "//" + SpellOperand(divisor, true, true);
  return MakeAtom(AtomKind::kFloorDiv, {numerator, divisor}, std::move(key), std::move(written), shift);
}

// floor(a / q), q > 1, a no integer.
OptimDim FloorDivByInt(const OptimDim& a, int64_t q) {
  std::vector<Term> whole, rest;
  uint64_t common = static_cast<uint64_t>(q);
  for (const Term& term : TermsOf(a)) {
    if (term.coefficient % q == 0) {
      whole.push_back({term.coefficient / q, term.factors});
    } else {
      const uint64_t size =
          term.coefficient < 0 ? 0 - static_cast<uint64_t>(term.coefficient) : static_cast<uint64_t>(term.coefficient);
      common = std::gcd(common, size);
      rest.push_back(term);
    }
  }
  const OptimDim out = FromTerms(std::move(whole), 0, "//", a, q);
  if (rest.empty()) return out + FloorInt(a.constant(), q);
  // floor((g*R + c) / (g*q)) = floor((R + floor(c/g)) / q).
  const int64_t g = static_cast<int64_t>(common);
  int64_t c = a.constant();
  if (g > 1) {
    for (Term& term : rest) term.coefficient /= g;
    c = FloorInt(c, g);
    q /= g;
  }
  const OptimDim sum = FromTerms(std::move(rest), 0, "//", a, q);
  if (q == 1) return out + sum + c;
  // floor((floor(x/p) + c) / q) = floor((x + p*c) / (p*q)).
  if (const Atom* atom = LoneAtom(sum); atom != nullptr && atom->kind == AtomKind::kFloorDiv) {
    const OptimDim& divisor = atom->args[1];
    if (divisor.IsInt() && divisor.AsInt() > 0) {
      const auto product = CheckedMul(divisor.AsInt(), q);
      const auto moved = CheckedMul(divisor.AsInt(), c);
      if (product && moved && CheckedAdd(atom->args[0].constant(), *moved)) {
        return out + FloorDiv(atom->args[0] + *moved, *product);
      }
    }
  }
  const int64_t outside = FloorInt(c, q);
  const int64_t inside = c - outside * q;
  const OptimDim numerator = sum + inside;
  if (sum.poly() != nullptr && sum.poly()->terms.size() <= 8) {
    const Interval bounds = BoundsOf(numerator);
    if (bounds.lower >= 0 && bounds.upper < q) return out + outside;
  }
  // A constant that is a multiple of q moves out of sight, any other is written where its author put it.
  const int64_t shift = inside == 0 || outside == kMin64 ? 0 : -outside;
  return out + MakeFloorDiv(numerator, q, shift) + outside;
}

OptimDim FloorDivByPoly(const OptimDim& a, const OptimDim& b) {
  if (a.IsInt() && a.AsInt() == 0) return 0;
  if (auto quotient = ExactDiv(a, b)) return *std::move(quotient);
  OptimDim out, numerator = a, divisor = b;
  if (b.constant() == 0 && b.poly()->terms.size() == 1) {
    const Term& d = b.poly()->terms[0];
    std::vector<Term> whole, rest;
    std::vector<AtomRef> quotient;
    for (const Term& term : TermsOf(a)) {
      if (d.coefficient != kMin64 && d.coefficient != -1 && term.coefficient % d.coefficient == 0 &&
          DivideMonomial(term.factors, d.factors, &quotient)) {
        whole.push_back({term.coefficient / d.coefficient, quotient});
      } else {
        rest.push_back(term);
      }
    }
    out = FromTerms(std::move(whole), 0, "//", a, b);
    numerator = FromTerms(std::move(rest), a.constant(), "//", a, b);
    if (numerator.IsInt() && numerator.AsInt() == 0) return out;
  }
  const bool positive = LowerBound(divisor).value_or(-1) >= 0;
  if (positive) {
    // The divisor is not 0 where the quotient is defined, so what both sides share cancels.
    const auto lower = LowerBound(numerator);
    if (lower && *lower >= 0 && LowerBound(divisor - numerator).value_or(0) >= 1) return out;
    if (const Atom* atom = LoneAtom(numerator); atom != nullptr && atom->kind == AtomKind::kFloorDiv) {
      const OptimDim product = atom->args[1] * divisor;
      if (LowerBound(atom->args[1]).value_or(-1) >= 0 && !IsOpaque(product))
        return out + FloorDiv(atom->args[0], product);
    }
    if (numerator.constant() == 0 && divisor.constant() == 0 && divisor.poly()->terms.size() == 1) {
      const Term& d = divisor.poly()->terms[0];
      const std::span<const Term> terms = TermsOf(numerator);
      std::vector<AtomRef> shared, quotient;
      for (const AtomRef& factor : d.factors) {
        std::vector<AtomRef> wanted = shared;
        wanted.push_back(factor);
        const bool everywhere = std::all_of(terms.begin(), terms.end(), [&](const Term& term) {
          return DivideMonomial(term.factors, wanted, &quotient);
        });
        if (everywhere) shared = std::move(wanted);
      }
      int64_t g = d.coefficient;
      for (const Term& term : terms) g = term.coefficient == kMin64 ? 1 : std::gcd(g, term.coefficient);
      if (!shared.empty() || g > 1) {
        const OptimDim common = FromTerms({Term{g, shared}}, 0, "//", a, b);
        const auto n = ExactDiv(numerator, common), q = ExactDiv(divisor, common);
        if (n && q) return out + FloorDiv(*n, *q);
      }
    }
  }
  // As with integers, whole numbers taken out are written where their author put them: a ceiling stays (N+s-1)//s.
  const int64_t moved = out.constant() == kMin64 ? 0 : out.constant();
  return out + MakeFloorDiv(numerator, divisor, -moved);
}

void Flatten(AtomKind kind, const OptimDim& dim, std::vector<OptimDim>* out) {
  const Atom* atom = LoneAtom(dim);
  if (atom != nullptr && atom->kind == kind) {
    out->insert(out->end(), atom->args.begin(), atom->args.end());
  } else if (std::find(out->begin(), out->end(), dim) == out->end()) {
    out->push_back(dim);
  }
}

void RemoveDoubles(std::vector<OptimDim>* dims) {
  std::vector<OptimDim> once;
  for (OptimDim& dim : *dims) {
    if (std::find(once.begin(), once.end(), dim) == once.end()) once.push_back(std::move(dim));
  }
  *dims = std::move(once);
}

// Sets of args: the key lists them sorted, the text as they came. An integer, if any, is the last of args and of both.
OptimDim MakeSet(AtomKind kind, std::string_view name, std::vector<OptimDim> args) {
  std::vector<std::string> keys, written;
  for (const OptimDim& arg : args) {
    keys.push_back(Spell(arg, false));
    written.push_back(Spell(arg, true));
  }
  const auto last = keys.end() - static_cast<std::ptrdiff_t>(args.back().IsInt() ? 1 : 0);
  std::sort(keys.begin(), last);
  auto spell = [&](const std::vector<std::string>& texts) {
    if (kind != AtomKind::kBroadcast) return fmt::format("{}({})", name, fmt::join(texts, ","));
    std::string text = texts.back();  // of two at a time, as other readers of the name know it
    for (size_t i = texts.size() - 1; i-- > 0;) text = fmt::format("{}({},{})", name, texts[i], text);
    return text;
  };
  return MakeAtom(kind, std::move(args), spell(keys), spell(written));
}

OptimDim MinMax(std::span<const OptimDim> dims, bool is_min) {
  const AtomKind kind = is_min ? AtomKind::kMin : AtomKind::kMax;
  std::vector<OptimDim> args;
  std::optional<int64_t> constant;
  for (const OptimDim& dim : dims) Flatten(kind, dim, &args);
  std::vector<OptimDim> kept;
  for (OptimDim& arg : args) {
    if (arg.IsInt()) {
      const int64_t value = arg.AsInt();
      constant = !constant ? value : is_min ? std::min(*constant, value) : std::max(*constant, value);
    } else {
      kept.push_back(std::move(arg));
    }
  }
  RemoveDoubles(&kept);
  if (constant) kept.emplace_back(*constant);
  if (kept.size() > kMaxArgs) {
    OptimDim all;
    for (const OptimDim& dim : kept) all = Overflow(",", all, dim);
    return Overflow(is_min ? "min" : "max", all, OptimDim());
  }
  if (kept.size() <= 16) {
    // An argument goes when another one that stays makes it needless.
    for (size_t i = 0; i < kept.size();) {
      bool needless = false;
      for (size_t j = 0; j < kept.size() && !needless; ++j) {
        if (i == j) continue;
        needless = is_min ? IsProvablyGreaterEqual(kept[i], kept[j]) : IsProvablyGreaterEqual(kept[j], kept[i]);
      }
      if (needless) {
        kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
  }
  if (kept.size() == 1) return kept[0];
  return MakeSet(kind, is_min ? "min" : "max", std::move(kept));
}

}  // namespace
}  // namespace expr

using expr::AtomKind;
using expr::FloorInt;
using expr::Term;
using expr::TermsOf;

OptimDim OptimDim::Symbol(std::string_view name) {
  auto* atom = new expr::Atom;
  expr::AtomRef ref(atom);
  atom->name = name;
  atom->key = expr::IsIdentifier(name) ? std::string(name) : expr::Quote(name);
  atom->hash = expr::Mix(std::hash<std::string>()(atom->key), 0);
  if (atom->key.size() > expr::kMaxAtomText) atom->key = fmt::format("?name{:016x}_{}", atom->hash, atom->key.size());
  atom->written = atom->key;
  return expr::FromAtom(std::move(ref));
}

OptimDim FloorDiv(const OptimDim& a, const OptimDim& b) {
  if (!b.IsInt()) return expr::FloorDivByPoly(a, b);
  const int64_t q = b.AsInt();
  if (q == 1) return a;
  if (q == 0) return expr::MakeFloorDiv(a, b, 0);
  if (q < 0) {
    if (q == expr::kMin64) return expr::Overflow("//", a, b);
    return FloorDiv(-a, -q);
  }
  if (a.IsInt()) return FloorInt(a.AsInt(), q);
  return expr::FloorDivByInt(a, q);
}

OptimDim CeilDiv(const OptimDim& a, const OptimDim& b) {
  if (b.IsInt()) {
    const int64_t q = b.AsInt();
    if (q == 0) return FloorDiv(a, b);
    if (q < 0) return q == expr::kMin64 ? expr::Overflow("ceil", a, b) : CeilDiv(-a, -q);
    if (a.IsInt()) return FloorInt(a.AsInt(), q) + static_cast<int64_t>(a.AsInt() % q != 0);
    return FloorDiv(a + (q - 1), b);
  }
  if (auto quotient = ExactDiv(a, b)) return *std::move(quotient);
  return FloorDiv(a + b - 1, b);
}

OptimDim Mod(const OptimDim& a, const OptimDim& b) { return a - b * FloorDiv(a, b); }

OptimDim Min(std::span<const OptimDim> dims) { return dims.empty() ? OptimDim() : expr::MinMax(dims, true); }
OptimDim Max(std::span<const OptimDim> dims) { return dims.empty() ? OptimDim() : expr::MinMax(dims, false); }
OptimDim Min(const OptimDim& a, const OptimDim& b) { return Min(std::vector<OptimDim>{a, b}); }
OptimDim Max(const OptimDim& a, const OptimDim& b) { return Max(std::vector<OptimDim>{a, b}); }

OptimDim Broadcast(std::span<const OptimDim> dims) {
  std::vector<OptimDim> args;
  for (const OptimDim& dim : dims) expr::Flatten(AtomKind::kBroadcast, dim, &args);
  expr::RemoveDoubles(&args);
  std::erase_if(args, [](const OptimDim& dim) { return dim.IsInt() && dim.AsInt() == 1; });
  if (args.empty()) return 1;
  for (const OptimDim& arg : args) {
    if (arg.IsInt()) return arg;
  }
  if (args.size() == 1) return args[0];
  for (const OptimDim& arg : args) {
    if (LowerBound(arg).value_or(0) >= 2) return arg;
  }
  if (args.size() > expr::kMaxArgs) {
    OptimDim all;
    for (const OptimDim& dim : args) all = expr::Overflow(",", all, dim);
    return expr::Overflow("broadcast", all, OptimDim());
  }
  return expr::MakeSet(AtomKind::kBroadcast, "broadcast", std::move(args));
}
OptimDim Broadcast(const OptimDim& a, const OptimDim& b) { return Broadcast(std::vector<OptimDim>{a, b}); }

OptimDim FloorScale(const OptimDim& a, float scale) {
  if (!std::isfinite(scale) || scale < 0) {
    return expr::Overflow(fmt::format("floor {}", scale), a, OptimDim());
  }
  if (a.IsInt()) {
    const float size = std::floor(static_cast<float>(a.AsInt()) * scale);
    if (std::fabs(size) < 9.0e18f) return static_cast<int64_t>(size);
    return expr::Overflow(fmt::format("floor {}", scale), a, OptimDim());
  }
  // Exact in few bits: the float product is exact for every dim of a real tensor.
  for (int64_t q = 1; q <= 1024; q *= 2) {
    const float p = scale * static_cast<float>(q);
    if (p == std::floor(p) && p <= 65536.0f) return FloorDiv(a * static_cast<int64_t>(p), q);
  }
  auto spell = [&](bool as_written) {
    const std::string text = expr::Spell(a, as_written);
    const bool sum = a.constant() != 0 || TermsOf(a).size() > 1 || text.find('/') != std::string::npos;
    return sum ? fmt::format("floor(({})*{})", text, scale) : fmt::format("floor({}*{})", text, scale);
  };
  return expr::MakeAtom(AtomKind::kFloorScale, {a}, spell(false), spell(true), 0, scale);
}

std::optional<OptimDim> ExactDiv(const OptimDim& a, const OptimDim& b) {
  if (b.IsInt()) {
    const int64_t q = b.AsInt();
    if (q == 0 || (q == -1 && a.constant() == expr::kMin64) || a.constant() % q != 0) return std::nullopt;
    std::vector<Term> terms(TermsOf(a).begin(), TermsOf(a).end());
    for (Term& term : terms) {
      if ((q == -1 && term.coefficient == expr::kMin64) || term.coefficient % q != 0) return std::nullopt;
      term.coefficient /= q;
    }
    return expr::FromTerms(std::move(terms), a.constant() / q, "/", a, b);
  }
  if (a == b) return OptimDim(1);
  // Long division: the order of terms is one that products respect, so the leading terms decide.
  const Term& lead = b.poly()->terms[0];
  if (lead.coefficient == expr::kMin64 || lead.coefficient == 0) return std::nullopt;
  std::vector<Term> quotient;
  OptimDim rest = a;
  for (size_t step = 0; rest != OptimDim(); ++step) {
    if (rest.IsInt() || step > 256 || expr::IsOpaque(rest) != expr::IsOpaque(a)) return std::nullopt;
    const Term& top = rest.poly()->terms[0];
    Term& term = quotient.emplace_back();
    if (lead.coefficient == -1 && top.coefficient == expr::kMin64) return std::nullopt;
    if (top.coefficient % lead.coefficient != 0 || !expr::DivideMonomial(top.factors, lead.factors, &term.factors)) {
      return std::nullopt;
    }
    term.coefficient = top.coefficient / lead.coefficient;
    const OptimDim part = expr::FromTerms({term}, 0, "/", a, b) * b;
    if (expr::IsOpaque(part) && !expr::IsOpaque(b) && !expr::IsOpaque(a)) return std::nullopt;
    rest = rest - part;
  }
  return expr::FromTerms(std::move(quotient), 0, "/", a, b);
}

}  // namespace onnx_optim
}  // namespace ONNX_LIGHT_NAMESPACE
