// SPDX-License-Identifier: Apache-2.0
// Pow: x to the power of y with broadcasting, in the type of x; y may have another type from version 12 on. Whole x
// with a whole y is exact modulo the width of x, a negative power of it truncates towards zero (0 for x = 0); with a
// floating y it goes through double and saturates. https://onnx.ai/onnx/operators/onnx__Pow.html
#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/cast/cast.h"
#include "ops/math/activation_op.h"
#include "ops/math/axis_broadcast.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct PowFn {
  template <class T, class Y>
  auto operator()(T x, Y y) const {
    if constexpr (std::is_floating_point_v<T>) {
      // The comparison reads a denormal as the run does; std::pow takes its bits apart.
      if (x == T(0)) x = std::copysign(T(0), x);
      return std::pow(static_cast<std::common_type_t<T, Y>>(x), static_cast<std::common_type_t<T, Y>>(y));
    } else {
      const double power = std::pow(static_cast<double>(x), y);
      if (std::isnan(power)) return T(0);
      if (power >= std::ldexp(1.0, std::numeric_limits<T>::digits)) return std::numeric_limits<T>::max();
      if (power <= -std::ldexp(1.0, std::numeric_limits<T>::digits)) return std::numeric_limits<T>::min();
      return static_cast<T>(power);
    }
  }
};
struct WholePowFn {
  template <class T>
  T operator()(T x, int64_t y) const {
    if (y < 0) return x == T(1) || (x == T(-1) && y % 2 == 0) ? T(1) : x == T(-1) ? T(-1) : T(0);
    uint64_t result = 1, factor = static_cast<uint64_t>(x);
    for (; y > 0; y >>= 1, factor *= factor)
      if (y & 1) result *= factor;
    return static_cast<T>(result);
  }
};

// What a power that is one number makes of a vector of x at once.
std::optional<kernels::FunctionKind> ProductOf(const Tensor& y, int rank) {
  if (y.NumElements() != 1 || y.rank() > rank || y.dtype() != TensorType::kFloat) return std::nullopt;
  const float power = y.View<float>()[0];
  if (power == 2.0f) return kernels::FunctionKind::kSquare;
  if (power == 3.0f) return kernels::FunctionKind::kCube;
  return std::nullopt;
}

void Run(RunContext& ctx) {
  const TensorType type = ctx.tensor(0).dtype();
  const Tensor y = ctx.tensor(1);
  const bool floats = onnx_optim::IsFloatTensorType(type);
  if (const auto product = ProductOf(y, ctx.tensor(0).rank()); floats && product) return RunFunction(ctx, {*product});
  if (floats && y.dtype() == type) return RunBinary<PowFn, FloatList>(ctx);
  const bool whole = !floats && !onnx_optim::IsFloatTensorType(y.dtype());
  Tensor exponent(whole ? TensorType::kInt64 : TensorType::kDouble, y.shape());
  kernels::Cast(y.data(), y.dtype(), exponent.mutable_data(), exponent.dtype(), y.NumElements());
  const PowFn pow;
  const WholePowFn whole_pow;
  if (floats) {
    Dispatch(FloatList(), type, [&]<class T>(std::type_identity<T>) {
      RunRows(ctx, 2, type, kernels::BinaryRow<PowFn, T, double, T>, &pow, &exponent);
    });
  } else {
    Dispatch(TypeList<int32_t, int64_t>(), type, [&]<class T>(std::type_identity<T>) {
      if (whole) {
        RunRows(ctx, 2, type, kernels::BinaryRow<WholePowFn, T, int64_t, T>, &whole_pow, &exponent);
      } else {
        RunRows(ctx, 2, type, kernels::BinaryRow<PowFn, T, double, T>, &pow, &exponent);
      }
    });
  }
}

// Small powers: a product.
std::optional<OptimDim> Known(InferScope&, std::span<const OptimDim> x) {
  if (!x[1].IsInt() || x[1].AsInt() < 0 || x[1].AsInt() > 8) return std::nullopt;
  return onnx_optim::Product(std::vector<OptimDim>(static_cast<size_t>(x[1].AsInt()), x[0]));
}
// The type is that of x alone.
void ShapeRule(InferScope& scope) { BroadcastShape(scope, Known, scope.InputType(0)); }

OpDef VersionOf(int since, TypeSet x, TypeSet y, std::string_view y_type) {
  return {.domain = "",
          .type = "Pow",
          .since_version = since,
          .inputs = {{"X", x, "T"}, {"Y", y, y_type}},
          .outputs = {{"Z", x, "T"}},
          .attributes = {},
          .shape = ShapeRule,
          .run = Run,
          .elementwise = 1};
}

}  // namespace

std::span<const OpDef> pow_ops() {
  static const OpDef ops[] = {
      ByAxis<ShapeRule>(VersionOf(1, kFloatTypes, kFloatTypes, "T")),
      VersionOf(7, kFloatTypes, kFloatTypes, "T"),
      VersionOf(12, kFloatTypes | kIndexTypes, kNumericTypes, "T1"),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
