// SPDX-License-Identifier: Apache-2.0
#include "ops/tensor/cast_op.h"

#include <fmt/format.h>

#include "kernels/cast/cast.h"
#include "ops/op_helpers.h"
#include "shapes/known_float.h"

namespace ONNX_LIGHT_NAMESPACE {

// Text costs about as much as thirty additions.
constexpr int64_t kTextGrain = kElementGrain / 32;

std::unique_ptr<OpState> PrepareCast(const PrepareContext& ctx) {
  using Rounding = kernels::CastRules::Rounding;
  auto state = std::make_unique<CastState>();
  state->rules.saturate = ctx.attrs().Int("saturate", 1) != 0;
  const std::string mode = ctx.attrs().String("round_mode", "up");
  if (mode != "up" && mode != "down" && mode != "nearest")
    FailAttribute("round_mode", fmt::format("is \"{}\", must be up, down or nearest", mode));
  state->rules.rounding = mode == "up" ? Rounding::kUp : mode == "down" ? Rounding::kDown : Rounding::kNearest;
  return state;
}

void RunCast(RunContext& ctx, TensorType to) {
  if (ctx.tensor(0).dtype() == to) return ctx.SetOutput(0, ctx.TakeInput(0));
  const Tensor x = ctx.tensor(0);
  const int64_t n = x.NumElements();
  const kernels::CastRules& rules = ctx.state<CastState>().rules;
  Tensor y(to, x.shape());
  if (x.dtype() == TensorType::kString) {
    const std::string* from = x.View<std::string>().data();
    const size_t to_size = onnx_optim::BytesOf(to);
    auto* const out = static_cast<std::byte*>(y.mutable_data());
    ctx.ParallelFor(n, kTextGrain, [&](int64_t begin, int64_t end) {
      const int64_t done = begin + kernels::CastFromString(from + begin, out + static_cast<size_t>(begin) * to_size, to,
                                                           end - begin, rules);
      if (done < end) ctx.FailInput(0, fmt::format("element {}, \"{}\", is no number", done, from[done].substr(0, 40)));
    });
  } else {
    const size_t from_size = onnx_optim::BytesOf(x.dtype());
    const auto* from = static_cast<const std::byte*>(x.data());
    if (to == TensorType::kString) {
      std::string* const out = y.MutableView<std::string>().data();
      ctx.ParallelFor(n, kTextGrain, [&](int64_t begin, int64_t end) {
        kernels::CastToString(from + static_cast<size_t>(begin) * from_size, x.dtype(), out + begin, end - begin);
      });
    } else {
      const size_t to_size = onnx_optim::BytesOf(to);
      auto* const out = static_cast<std::byte*>(y.mutable_data());
      ctx.ParallelFor(n, kElementGrain, [&](int64_t begin, int64_t end) {
        const auto first = static_cast<size_t>(begin);
        kernels::Cast(from + first * from_size, x.dtype(), out + first * to_size, to, end - begin, rules);
      });
    }
  }
  ctx.SetOutput(0, std::move(y));
}

namespace {

// The integer as an element of type `to`; nothing where that does not carry it.
std::optional<OptimDim> CastElement(const ShapesContext& context, const OptimDim& value, TensorType to) {
  if (to == TensorType::kBool) {
    if (value.IsInt()) return OptimDim(value.AsInt() != 0 ? 1 : 0);
    return context.ProvablyDifferent(value, 0) ? std::optional(OptimDim(1)) : std::nullopt;
  }
  return CarriesValues(to) && Fits(value, to) ? std::optional(value) : std::nullopt;
}

bool IsFloating(TensorType dtype) { return dtype == TensorType::kFloat || dtype == TensorType::kDouble; }

}  // namespace

void CastShape(InferScope& scope, TensorType to) {
  const OptimShape shape = scope.InputShape(0);
  const ShapesContext& context = scope.context();
  const TensorType from = scope.InputType(0);
  const ShapeValue plain = ShapeValue::Tensor(to, shape);
  scope.SetOutput(0, plain);
  if (!shape.IsFullyKnown()) return;
  const KnownElements* ints = scope.Input(0).Elements();
  const KnownFloats* floats = scope.Input(0).Floats();
  const size_t n = ints != nullptr ? ints->size() : floats != nullptr ? floats->size() : 0;
  if (n == 0) return;
  KnownElements cast_ints(n);
  KnownFloats cast_floats(n);
  for (size_t i = 0; i < n; ++i) {
    std::optional<OptimDim> whole;
    if (ints != nullptr) {
      whole = (*ints)[i];
    } else if ((*floats)[i] && IsFloating(to)) {
      // A product that was rounded as float is no product of doubles.
      const auto& element = *(*floats)[i];
      if (element.IsConstant()) cast_floats[i] = onnx_optim::shapes::ConstantFloat(to, element.factor);
      if (!element.IsConstant() && element.factor == 1 && element.divisor == OptimDim(1)) cast_floats[i] = element;
    } else if ((*floats)[i] && to != TensorType::kBool) {
      whole = onnx_optim::shapes::Truncated(*(*floats)[i], from);
    }
    if (!whole) continue;
    if (IsFloating(to)) {
      cast_floats[i] = onnx_optim::shapes::WholeFloat(context, to, *whole);
    } else {
      cast_ints[i] = CastElement(context, *whole, to);
    }
  }
  scope.SetOutput(0,
                  IsFloating(to) ? plain.WithFloats(std::move(cast_floats)) : plain.WithElements(std::move(cast_ints)));
}

}  // namespace ONNX_LIGHT_NAMESPACE
