// SPDX-License-Identifier: Apache-2.0
// Clip: x held within [min, max]; where min > max, max. NaN stays NaN. The bounds are attributes before version 11, then optional
// scalar inputs.
// https://onnx.ai/onnx/operators/onnx__Clip.html
#include <fmt/format.h>

#include <limits>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

template <class C>
struct ClipFn {
  C low = std::numeric_limits<C>::has_infinity ? -std::numeric_limits<C>::infinity() : std::numeric_limits<C>::lowest();
  C high = std::numeric_limits<C>::has_infinity ? std::numeric_limits<C>::infinity() : std::numeric_limits<C>::max();
  C operator()(C x) const {
    const C raised = x < low ? low : x;
    return raised > high ? high : raised;
  }
};

template <class T>
using Computed = std::conditional_t<kernels::kIsHalf<T>, float, T>;

void RunAttributes(RunContext& ctx) {
  Dispatch(FloatList(), ctx.tensor(0).dtype(), [&]<class T>(std::type_identity<T>) {
    ClipFn<Computed<T>> fn;
    fn.low = static_cast<Computed<T>>(ctx.attrs().Float("min", std::numeric_limits<float>::lowest()));
    fn.high = static_cast<Computed<T>>(ctx.attrs().Float("max", std::numeric_limits<float>::max()));
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
    ClipFn<Computed<T>> fn;
    ReadBound<T>(ctx, 1, &fn.low);
    ReadBound<T>(ctx, 2, &fn.high);
    RunRows(ctx, 1, kTensorTypeOf<T>, kernels::UnaryRow<ClipFn<Computed<T>>, T, T>, &fn);
  });
}

void ShapeRule(InferScope& scope) { SetLikeInput(scope, 0, scope.InputShape(0)); }

}  // namespace

std::span<const OpDef> clip_ops() {
  static const OpDef ops[] = {
      UnaryOp("Clip", 6, kFloatTypes, RunAttributes, {{"min", AttrKind::kFloat}, {"max", AttrKind::kFloat}}, "input", "output"),
      {.domain = "", .type = "Clip", .since_version = 11,
       .inputs = {{"input", kNumericTypes, "T"},
                  {.name = "min", .types = kNumericTypes, .type_var = "T", .count = FormalCount::kOptional},
                  {.name = "max", .types = kNumericTypes, .type_var = "T", .count = FormalCount::kOptional}},
       .outputs = {{"output", kNumericTypes, "T"}}, .attributes = {}, .shape = ShapeRule, .run = RunInputs},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
