// SPDX-License-Identifier: Apache-2.0
// Clip: x held within [min, max]; where min > max, max. NaN stays NaN. The bounds are attributes before version 11,
// then optional scalar inputs. https://onnx.ai/onnx/operators/onnx__Clip.html
#include <fmt/format.h>

#include <limits>
#include <type_traits>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

template <class C>
struct ClipFn {
  C low, high;
  C operator()(C x) const {
    const C raised = x < low ? low : x;
    return raised > high ? high : raised;
  }
};

template <class T>
using Computed = std::conditional_t<kernels::kIsHalf<T>, float, T>;

// A bound that is not given is the least or greatest finite number of the type: infinities do not pass.
template <class T>
ClipFn<Computed<T>> NoBounds() {
  if constexpr (kernels::kIsHalf<T>) {
    const float greatest = T::FromBits(std::is_same_v<T, Float16> ? 0x7bff : 0x7f7f);
    return {-greatest, greatest};
  } else {
    return {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()};
  }
}

void RunAttributes(RunContext& ctx) {
  Dispatch(FloatList(), ctx.tensor(0).dtype(), [&]<class T>(std::type_identity<T>) {
    ClipFn<Computed<T>> fn = NoBounds<T>();
    if (ctx.attrs().Has("min")) fn.low = static_cast<Computed<T>>(ctx.attrs().Float("min", 0));
    if (ctx.attrs().Has("max")) fn.high = static_cast<Computed<T>>(ctx.attrs().Float("max", 0));
    RunRows(ctx, 1, kTensorTypeOf<T>, kernels::UnaryRow<ClipFn<Computed<T>>, T, T>, &fn);
  });
}

template <class T>
void ReadBound(const RunContext& ctx, int i, Computed<T>* bound) {
  if (!ctx.HasInput(i)) return;
  const Tensor& t = ctx.tensor(i);
  if (t.NumElements() != 1) ctx.FailInput(i, fmt::format("must be a scalar, got {}", t.TypeString()));
  *bound = kernels::Load(t.View<T>()[0]);
}

void RunInputs(RunContext& ctx) {
  Dispatch(NumericList(), ctx.tensor(0).dtype(), [&]<class T>(std::type_identity<T>) {
    ClipFn<Computed<T>> fn = NoBounds<T>();
    ReadBound<T>(ctx, 1, &fn.low);
    ReadBound<T>(ctx, 2, &fn.high);
    RunRows(ctx, 1, kTensorTypeOf<T>, kernels::UnaryRow<ClipFn<Computed<T>>, T, T>, &fn);
  });
}

void ShapeRule(InferScope& scope) {
  SetLikeInput(scope, 0, scope.InputShape(0));
  const KnownElements* elements = InputElements(scope, 0);
  std::optional<OptimDim> bounds[2];
  for (int i = 0; i < 2; ++i) {
    bounds[i] = scope.Input(1 + i).ScalarValue();
    if (scope.HasInput(1 + i) && !bounds[i]) return;
  }
  if (elements == nullptr || !CarriesValues(scope.InputType(0))) return;
  KnownElements clipped = *elements;
  for (std::optional<OptimDim>& element : clipped) {
    if (element && bounds[0]) element = onnx_optim::Max(*element, *bounds[0]);
    if (element && bounds[1]) element = onnx_optim::Min(*element, *bounds[1]);
  }
  SetTensorWithElements(scope, 0, scope.InputType(0), scope.InputShape(0), std::move(clipped));
}

}  // namespace

std::span<const OpDef> clip_ops() {
  static const OpDef ops[] = {
      Consuming(UnaryOp("Clip", 1, kFloatTypes, RunAttributes, {{"min", AttrKind::kFloat}, {"max", AttrKind::kFloat}},
                        "input", "output")),
      UnaryOp("Clip", 6, kFloatTypes, RunAttributes, {{"min", AttrKind::kFloat}, {"max", AttrKind::kFloat}}, "input",
              "output"),
      {.domain = "",
       .type = "Clip",
       .since_version = 11,
       .inputs = {{"input", kNumericTypes, "T"},
                  {.name = "min", .types = kNumericTypes, .type_var = "T", .count = FormalCount::kOptional},
                  {.name = "max", .types = kNumericTypes, .type_var = "T", .count = FormalCount::kOptional}},
       .outputs = {{"output", kNumericTypes, "T"}},
       .attributes = {},
       .shape = ShapeRule,
       .run = RunInputs,
       .elementwise = 1},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
