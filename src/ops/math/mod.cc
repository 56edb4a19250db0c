// SPDX-License-Identifier: Apache-2.0
// Mod: the rest of a / b with broadcasting. fmod 0: the quotient is rounded down, the rest has the sign of b; fmod 1:
// it is truncated, the rest has the sign of a. A zero divisor among integers is an error. Before version 28 floats had
// to have fmod 1. https://onnx.ai/onnx/operators/onnx__Mod.html
#include <fmt/format.h>

#include <cmath>
#include <type_traits>

#include "ops/math/elementwise_op.h"
#include "ops/math/integer_division.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct ModFn {
  bool truncates;
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      const T rest = std::fmod(a, b);
      if (truncates || rest != rest) return rest;
      if (rest == T(0)) return std::copysign(rest, b);
      return (rest < T(0)) == (b < T(0)) ? rest : rest + b;
    } else if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return T(0);
      const auto rest = static_cast<T>(a % b);
      return rest != 0 && !truncates && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
    } else {
      return static_cast<T>(a % b);
    }
  }
};
bool Truncates(const RunContext& ctx) {
  const int64_t fmod = ctx.attrs().Int("fmod", 0);
  if (fmod != 0 && fmod != 1) ctx.Fail("attribute 'fmod'", fmt::format("is {}, must be 0 or 1", fmod));
  return fmod == 1;
}
template <bool kFloatsTakeBoth>
void Run(RunContext& ctx) {
  const bool truncates = Truncates(ctx);
  if (!kFloatsTakeBoth && !truncates && onnx_optim::IsFloatTensorType(ctx.tensor(0).dtype()))
    ctx.Fail("attribute 'fmod'", "is 0, must be 1 for floating-point inputs before version 28");
  CheckDivisor(ctx);
  RunBinary(ctx, ModFn{truncates});
}

std::optional<OptimDim> Known(InferScope& scope, std::span<const OptimDim> x) {
  const OptimDim& a = x[0];
  const OptimDim& b = x[1];
  const bool truncates = scope.attrs().Int("fmod", 0) != 0;
  if (a.IsInt() && b.IsInt()) {
    if (b.AsInt() == 0) return std::nullopt;
    if (b.AsInt() == -1) return OptimDim(0);
    const int64_t rest = a.AsInt() % b.AsInt();
    return OptimDim(rest != 0 && !truncates && (rest < 0) != (b.AsInt() < 0) ? rest + b.AsInt() : rest);
  }
  if (!scope.context().ProvablyGreaterEqual(b, b.IsInt() ? 1 : 0)) return std::nullopt;
  if (truncates && !scope.context().ProvablyGreaterEqual(a, 0)) return std::nullopt;
  return Mod(a, b);
}
void ShapeRule(InferScope& scope) { BroadcastShape(scope, Known); }

OpDef VersionOf(int since, void (*run)(RunContext&)) {
  OpDef op = BinaryOp("Mod", since, kNumericTypes, run, ShapeRule);
  op.attributes = {{"fmod", AttrKind::kInt}};
  return op;
}

}  // namespace

std::span<const OpDef> mod_ops() {
  static const OpDef ops[] = {
      VersionOf(10, Run<false>),
      VersionOf(28, Run<true>),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
