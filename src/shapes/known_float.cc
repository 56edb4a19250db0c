// SPDX-License-Identifier: Apache-2.0
#include "shapes/known_float.h"

#include <cmath>
#include <numeric>

#include "shapes/expr.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {
namespace shapes {

namespace {

bool IsPowerOfTwo(const OptimDim& dim) {
  return dim.IsInt() && dim.AsInt() > 0 && (dim.AsInt() & (dim.AsInt() - 1)) == 0;
}

// A quotient that a float holds exactly.
struct Ratio {
  OptimDim above, below;
};
// Constants of few bits, and dims over powers of two.
std::optional<Ratio> ExactRatio(const KnownFloat& x) {
  if (!x.IsConstant())
    return x.factor == 1 && IsPowerOfTwo(x.divisor) ? std::optional(Ratio{x.dim, x.divisor}) : std::nullopt;
  for (int64_t q = 1; q <= 1024; q *= 2) {
    const double p = x.factor * static_cast<double>(q);
    if (p == std::floor(p) && std::fabs(p) <= 65536) return Ratio{static_cast<int64_t>(p), q};
  }
  return std::nullopt;
}

std::optional<KnownFloat> Sum(const ShapesContext& context, TensorType dtype, const KnownFloat& a, const KnownFloat& b,
                              int64_t sign) {
  const std::optional<Ratio> x = ExactRatio(a), y = ExactRatio(b);
  if (!x || !y) return std::nullopt;
  const OptimDim above = x->above * y->below + OptimDim(sign) * y->above * x->below;
  if (!context.ProvablyGreaterEqual(above, 0)) return std::nullopt;
  return Quotient(dtype, above, x->below * y->below);
}

}  // namespace

KnownFloat ConstantFloat(TensorType dtype, double value) {
  return {1, 1, dtype == TensorType::kFloat ? static_cast<double>(static_cast<float>(value)) : value};
}

std::optional<KnownFloat> Quotient(TensorType dtype, const OptimDim& dim, const OptimDim& divisor, double factor) {
  if (divisor.IsInt() && divisor.AsInt() < 1) return std::nullopt;
  if (dim.IsInt() && divisor.IsInt()) {
    const KnownFloat quotient =
        ConstantFloat(dtype, static_cast<double>(dim.AsInt()) / static_cast<double>(divisor.AsInt()));
    return ConstantFloat(dtype, quotient.factor * factor);
  }
  if (divisor == OptimDim(1)) return KnownFloat{dim, 1, factor};
  if (const std::optional<OptimDim> exact = ExactDiv(dim, divisor)) return Quotient(dtype, *exact, 1, factor);
  if (!divisor.IsInt()) return KnownFloat{dim, divisor, factor};
  // Of magnitudes: the least integer has none.
  const auto size = [](int64_t x) { return x < 0 ? 0 - static_cast<uint64_t>(x) : static_cast<uint64_t>(x); };
  uint64_t shared = std::gcd(size(divisor.AsInt()), size(dim.constant()));
  for (const expr::Term& term : expr::TermsOf(dim)) shared = std::gcd(shared, size(term.coefficient));
  const auto common = static_cast<int64_t>(shared);
  return KnownFloat{ExactDiv(dim, common).value_or(dim), divisor.AsInt() / common, factor};
}

std::optional<KnownFloat> WholeFloat(const ShapesContext& context, TensorType dtype, const OptimDim& value) {
  if (value.IsInt()) return ConstantFloat(dtype, static_cast<double>(value.AsInt()));
  if (!context.ProvablyGreaterEqual(value, 0)) return std::nullopt;
  return KnownFloat{value, 1, 1};
}

std::optional<OptimDim> Truncated(const KnownFloat& value, TensorType dtype) {
  if (value.IsConstant()) {
    if (!(std::fabs(value.factor) < 9.0e18)) return std::nullopt;
    return OptimDim(static_cast<int64_t>(value.factor));
  }
  if (value.factor == 1) return FloorDiv(value.dim, value.divisor);
  if (dtype != TensorType::kFloat || value.factor < 0) return std::nullopt;
  return FloorScale(value.dim, static_cast<float>(value.factor));
}

std::optional<KnownFloat> AddFloats(const ShapesContext& context, TensorType dtype, std::span<const KnownFloat> x) {
  if (x[0].IsConstant() && x[1].IsConstant()) return ConstantFloat(dtype, x[0].factor + x[1].factor);
  return Sum(context, dtype, x[0], x[1], 1);
}

std::optional<KnownFloat> SubtractFloats(const ShapesContext& context, TensorType dtype,
                                         std::span<const KnownFloat> x) {
  if (x[0].IsConstant() && x[1].IsConstant()) return ConstantFloat(dtype, x[0].factor - x[1].factor);
  return Sum(context, dtype, x[0], x[1], -1);
}

std::optional<KnownFloat> MultiplyFloats(const ShapesContext&, TensorType dtype, std::span<const KnownFloat> x) {
  if (x[0].IsConstant() && x[1].IsConstant()) return ConstantFloat(dtype, x[0].factor * x[1].factor);
  const KnownFloat& by = x[0].IsConstant() ? x[0] : x[1];
  const KnownFloat& dim = x[0].IsConstant() ? x[1] : x[0];
  if (!by.IsConstant() || dim.factor != 1 || !(by.factor >= 0)) return std::nullopt;
  // Scaled by a power of two even what was rounded before stays what it is.
  const std::optional<Ratio> ratio = ExactRatio(by);
  if (ratio && (IsPowerOfTwo(dim.divisor) || IsPowerOfTwo(ratio->above)))
    return Quotient(dtype, dim.dim * ratio->above, dim.divisor * ratio->below);
  if (dim.divisor != OptimDim(1) || dtype != TensorType::kFloat) return std::nullopt;
  return KnownFloat{dim.dim, 1, by.factor};
}

std::optional<KnownFloat> DivideFloats(const ShapesContext& context, TensorType dtype, std::span<const KnownFloat> x) {
  if (x[0].IsConstant() && x[1].IsConstant()) return ConstantFloat(dtype, x[0].factor / x[1].factor);
  // Rounded once: it lies between the same whole numbers as the quotient itself.
  const std::optional<Ratio> a = ExactRatio(x[0]), b = ExactRatio(x[1]);
  if (!a || !b || !context.ProvablyGreaterEqual(a->above, 0)) return std::nullopt;
  if (!context.ProvablyGreaterEqual(b->above, b->above.IsInt() ? 1 : 0)) return std::nullopt;
  return Quotient(dtype, a->above * b->below, a->below * b->above);
}

std::optional<KnownFloat> FloorFloat(const ShapesContext& context, TensorType dtype, std::span<const KnownFloat> x) {
  if (x[0].IsConstant()) return ConstantFloat(dtype, std::floor(x[0].factor));
  const std::optional<OptimDim> whole = Truncated(x[0], dtype);
  return whole ? WholeFloat(context, dtype, *whole) : std::nullopt;
}

std::optional<KnownFloat> CeilFloat(const ShapesContext& context, TensorType dtype, std::span<const KnownFloat> x) {
  if (x[0].IsConstant()) return ConstantFloat(dtype, std::ceil(x[0].factor));
  if (x[0].factor != 1) return std::nullopt;
  return WholeFloat(context, dtype, CeilDiv(x[0].dim, x[0].divisor));
}

std::optional<KnownFloat> RoundFloat(const ShapesContext&, TensorType dtype, std::span<const KnownFloat> x) {
  if (x[0].IsConstant()) return ConstantFloat(dtype, std::nearbyint(x[0].factor));
  if (x[0].factor != 1 || x[0].divisor != OptimDim(1)) return std::nullopt;
  return x[0];
}

}  // namespace shapes
}  // namespace onnx_optim
}  // namespace ONNX_LIGHT_NAMESPACE
