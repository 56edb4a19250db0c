// SPDX-License-Identifier: Apache-2.0
// Walks over expressions: symbols, substitution, evaluation. Recursion is bounded by kMaxDepth.
#include <algorithm>
#include <cmath>
#include <set>

#include "base/checked.h"
#include "shapes/expr.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {

using expr::Atom;
using expr::AtomKind;
using expr::AtomRef;
using expr::Term;
using expr::TermsOf;

namespace {

using Replacement = std::function<std::optional<OptimDim>(const std::string&)>;
using Binding = std::function<std::optional<int64_t>(std::string_view)>;

// Calls fn(atom) for each atom until it returns true; true when it did.
template <class Fn>
bool AnyAtom(const OptimDim& dim, const Fn& fn) {
  for (const Term& term : TermsOf(dim)) {
    for (const AtomRef& atom : term.factors) {
      if (fn(*atom)) return true;
      for (const OptimDim& arg : atom->args) {
        if (AnyAtom(arg, fn)) return true;
      }
    }
  }
  return false;
}

// The same with fn(name) for each symbol.
template <class Fn>
bool AnySymbol(const OptimDim& dim, const Fn& fn) {
  return AnyAtom(dim, [&](const Atom& atom) {
    return (atom.kind == AtomKind::kSymbol || atom.kind == AtomKind::kOpaque) && fn(atom.name);
  });
}

bool IsClamp(const Atom& atom) { return atom.kind == AtomKind::kMin || atom.kind == AtomKind::kMax; }

// Drops arguments of min or max that another one beats in every run.
void DropBeaten(AtomKind kind, std::vector<OptimDim>& args, const SymbolBounds& bounds) {
  for (size_t i = 0; i < args.size();) {
    const auto beats = [&](const OptimDim& other) {
      return &other != &args[i] && (kind == AtomKind::kMax ? IsProvablyGreaterEqual(other, args[i], bounds)
                                                           : IsProvablyGreaterEqual(args[i], other, bounds));
    };
    if (std::ranges::any_of(args, beats)) {
      args.erase(args.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

// `bounds`: those under which arguments of min and max are dropped; null for none.
OptimDim Replace(const OptimDim& dim, const Replacement& replacement, const SymbolBounds* bounds = nullptr);

OptimDim ReplaceAtom(const AtomRef& atom, const Replacement& replacement, const SymbolBounds* bounds) {
  if (atom->args.empty()) {
    if (auto dim = replacement(atom->name)) return *std::move(dim);
    return expr::FromAtom(atom);
  }
  std::vector<OptimDim> args;
  bool changed = false;
  for (const OptimDim& arg : atom->args) {
    args.push_back(Replace(arg, replacement, bounds));
    changed |= args.back() != arg;
  }
  if (bounds != nullptr && IsClamp(*atom)) {
    DropBeaten(atom->kind, args, *bounds);
    changed |= args.size() != atom->args.size();
  }
  if (!changed) return expr::FromAtom(atom);
  switch (atom->kind) {
    case AtomKind::kFloorDiv:
      // From the numerator as its author wrote it, so that the result is written alike.
      if (atom->shift != 0) return FloorDiv(args[0] - args[1] * atom->shift, args[1]) + atom->shift;
      return FloorDiv(args[0], args[1]);
    case AtomKind::kMin:
      return Min(args);
    case AtomKind::kMax:
      return Max(args);
    case AtomKind::kBroadcast:
      return Broadcast(args);
    case AtomKind::kFloorScale:
      return FloorScale(args[0], atom->scale);
    case AtomKind::kSymbol:
    case AtomKind::kOpaque:
      break;
  }
  return expr::FromAtom(atom);
}

OptimDim Replace(const OptimDim& dim, const Replacement& replacement, const SymbolBounds* bounds) {
  if (dim.IsInt()) return dim;
  std::vector<OptimDim> sum;
  sum.emplace_back(dim.constant());
  for (const Term& term : TermsOf(dim)) {
    OptimDim product = term.coefficient;
    for (const AtomRef& atom : term.factors) product *= ReplaceAtom(atom, replacement, bounds);
    sum.push_back(std::move(product));
  }
  return Sum(sum);
}

std::optional<int64_t> Value(const OptimDim& dim, const Binding& binding);

std::optional<int64_t> AtomValue(const Atom& atom, const Binding& binding) {
  if (atom.args.empty()) return binding(atom.name);
  std::vector<int64_t> args;
  for (const OptimDim& arg : atom.args) {
    const auto value = Value(arg, binding);
    if (!value) return std::nullopt;
    args.push_back(*value);
  }
  switch (atom.kind) {
    case AtomKind::kFloorDiv: {
      const int64_t a = args[0], b = args[1];
      if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min())) return std::nullopt;
      return a / b - static_cast<int64_t>(a % b != 0 && (a < 0) != (b < 0));
    }
    case AtomKind::kMin:
      return *std::min_element(args.begin(), args.end());
    case AtomKind::kMax:
      return *std::max_element(args.begin(), args.end());
    case AtomKind::kBroadcast: {
      int64_t all = 1;
      for (const int64_t arg : args) {
        if (arg == 1 || arg == all) continue;
        if (all != 1) return std::nullopt;
        all = arg;
      }
      return all;
    }
    case AtomKind::kFloorScale: {
      const float size = std::floor(static_cast<float>(args[0]) * atom.scale);
      if (!(std::fabs(size) < 9.0e18f)) return std::nullopt;
      return static_cast<int64_t>(size);
    }
    case AtomKind::kSymbol:
    case AtomKind::kOpaque:
      break;
  }
  return std::nullopt;
}

std::optional<int64_t> Value(const OptimDim& dim, const Binding& binding) {
  std::optional<int64_t> sum = dim.constant();
  for (const Term& term : TermsOf(dim)) {
    std::optional<int64_t> product = term.coefficient;
    for (const AtomRef& atom : term.factors) {
      const auto value = AtomValue(*atom, binding);
      if (!value) return std::nullopt;
      product = CheckedMul(*product, *value);
      if (!product) return std::nullopt;
    }
    sum = CheckedAdd(*sum, *product);
    if (!sum) return std::nullopt;
  }
  return sum;
}

bool HasFreshPrefix(std::string_view name) { return name.substr(0, kFreshPrefix.size()) == kFreshPrefix; }

}  // namespace

std::vector<std::string> Symbols(const OptimDim& dim) {
  std::set<std::string> names;
  AnySymbol(dim, [&](const std::string& name) {
    names.insert(name);
    return false;
  });
  return {names.begin(), names.end()};
}

bool Mentions(const OptimDim& dim, std::string_view symbol) noexcept {
  return AnySymbol(dim, [&](const std::string& name) { return name == symbol; });
}

OptimDim Substitute(const OptimDim& dim, const Replacement& replacement) { return Replace(dim, replacement); }

OptimDim Substitute(const OptimDim& dim, std::string_view symbol, const OptimDim& replacement) {
  if (!Mentions(dim, symbol)) return dim;
  return Replace(dim,
                 [&](const std::string& name) { return name == symbol ? std::optional(replacement) : std::nullopt; });
}

std::optional<int64_t> Evaluate(const OptimDim& dim, const Binding& binding) { return Value(dim, binding); }

bool IsFresh(const OptimDim& dim) noexcept {
  const std::string* name = SymbolName(dim);
  return name != nullptr && HasFreshPrefix(*name);
}

bool MentionsFresh(const OptimDim& dim) noexcept {
  return AnySymbol(dim, [](const std::string& name) { return HasFreshPrefix(name); });
}

namespace expr {

OptimDim WithoutBeaten(const OptimDim& dim, const SymbolBounds& bounds) {
  if (!AnyAtom(dim, IsClamp)) return dim;
  return Replace(dim, [](const std::string&) { return std::nullopt; }, &bounds);
}

}  // namespace expr
}  // namespace onnx_optim
}  // namespace ONNX_LIGHT_NAMESPACE
