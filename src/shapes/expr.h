// SPDX-License-Identifier: Apache-2.0
// shapes: the symbolic algebra of dims, what is known of values (ShapeValue), facts about symbols, and ShapesContext.
// Knows no operator. Before it: model (the messages). After it: ops, whose shape rules read and write contexts.
//
// The canonical form behind OptimDim: immutable, refcounted nodes. A dim is constant + polynomial; a polynomial is a
// sorted sum of terms; a term is a coefficient times atoms sorted by key. Two dims are equal exactly when constant and
// polynomial are.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx_optim/optim_dim.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {
namespace expr {

// Beyond these a result becomes an opaque atom. They bound the recursion over a node and the cost of one operation.
inline constexpr size_t kMaxTerms = 1024;
inline constexpr size_t kMaxDegree = 32;
inline constexpr int kMaxDepth = 48;
inline constexpr size_t kMaxAtomText = 4096;
inline constexpr size_t kMaxPolyText = 32768;
inline constexpr size_t kMaxProducts = 4096;
inline constexpr size_t kMaxArgs = 64;

enum class AtomKind : uint8_t { kSymbol, kOpaque, kFloorDiv, kMin, kMax, kBroadcast, kFloorScale };

template <class T>
class Ref {
 public:
  Ref() = default;
  // Takes over one reference.
  explicit Ref(const T* node) noexcept : node_(node) {}
  Ref(const Ref& other) noexcept : node_(other.node_) {
    if (node_ != nullptr) node_->refs.fetch_add(1, std::memory_order_relaxed);
  }
  Ref(Ref&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Ref() {
    if (node_ != nullptr && node_->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete node_;
  }
  const T* get() const noexcept { return node_; }
  const T& operator*() const noexcept { return *node_; }
  const T* operator->() const noexcept { return node_; }

 private:
  const T* node_ = nullptr;
};

struct Atom {
  mutable std::atomic<uint32_t> refs{1};
  AtomKind kind = AtomKind::kSymbol;
  bool opaque = false;  // an overflow is in it: nothing is known of its sign
  uint16_t depth = 0;
  float scale = 0;  // kFloorScale
  // kFloorDiv: the atom is written as what its author wrote: (N-1)//2 for the atom (N+1)//2, one larger. atom = written
  // + shift.
  int64_t shift = 0;
  uint64_t hash = 0;
  std::string key;             // canonical, one for one with the value the atom stands for; sorts it
  std::string written;         // as shown when it stands alone in a term
  std::string name;            // kSymbol, kOpaque
  std::vector<OptimDim> args;  // kFloorDiv: numerator with constant in [0, divisor) when that is an integer, divisor
};
using AtomRef = Ref<Atom>;

struct Term {
  int64_t coefficient = 0;
  std::vector<AtomRef> factors;
};

struct Poly {
  mutable std::atomic<uint32_t> refs{1};
  bool opaque = false;
  uint16_t depth = 0;
  uint32_t text_size = 0;
  uint64_t hash = 0;
  std::vector<Term> terms;  // by descending degree, then by the keys of the factors; no coefficient is 0
};

inline std::span<const Term> TermsOf(const OptimDim& dim) {
  return dim.poly() == nullptr ? std::span<const Term>() : std::span<const Term>(dim.poly()->terms);
}
inline uint16_t DepthOf(const OptimDim& dim) { return dim.poly() == nullptr ? uint16_t{0} : dim.poly()->depth; }
inline bool IsOpaque(const OptimDim& dim) { return dim.poly() != nullptr && dim.poly()->opaque; }

int Compare(const Atom& a, const Atom& b) noexcept;
// By degree, largest first, then by factors.
int CompareMonomials(const std::vector<AtomRef>& a, const std::vector<AtomRef>& b) noexcept;
inline bool SameAtom(const Atom& a, const Atom& b) noexcept {
  return &a == &b || (a.hash == b.hash && a.kind == b.kind && a.key == b.key);
}
uint64_t Mix(uint64_t a, uint64_t b) noexcept;

// The atom alone, when that is what `dim` is: one term with coefficient 1 and one factor, constant 0. Else null.
const Atom* LoneAtom(const OptimDim& dim) noexcept;
OptimDim FromAtom(AtomRef atom);
// The dim of these terms in any order; equal monomials are added. `what` and the operands name the result when it does
// not fit.
OptimDim FromTerms(std::vector<Term> terms, int64_t constant, std::string_view what, const OptimDim& a,
                   const OptimDim& b);
// The opaque name of an operation that does not fit.
OptimDim Overflow(std::string_view what, const OptimDim& a, const OptimDim& b);
// factors of `a` without those of `b`; false when b has one that a has not.
bool DivideMonomial(const std::vector<AtomRef>& a, const std::vector<AtomRef>& b, std::vector<AtomRef>* quotient);

// `dim` without the arguments of min and max that another one beats in every run: max(N-1,0) is N-1 where N >= 1.
OptimDim WithoutBeaten(const OptimDim& dim, const SymbolBounds& bounds);

// The text of `dim`: by keys, or as written.
std::string Spell(const OptimDim& dim, bool as_written);
std::string Quote(std::string_view name);
bool IsIdentifier(std::string_view text) noexcept;

// floor(a / b) of integers, b > 0.
inline int64_t FloorInt(int64_t a, int64_t b) { return a / b - static_cast<int64_t>(a % b < 0); }

// The dim that `text` spells, and the identifiers in it; false when it is no expression.
bool ParseExpression(std::string_view text, OptimDim* dim, std::vector<std::string>* identifiers);

}  // namespace expr
}  // namespace onnx_optim
}  // namespace ONNX_LIGHT_NAMESPACE
