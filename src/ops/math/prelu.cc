// SPDX-License-Identifier: Apache-2.0
// PRelu: x, slope x where it is negative; the slope broadcasts to x, before version 7 it is one for each channel or for
// all. Integers wrap.
// https://onnx.ai/onnx/operators/onnx__PRelu.html
#include <fmt/format.h>

#include <bit>
#include <type_traits>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using PReluList = TypeList<float, double, Float16, BFloat16, int32_t, int64_t, uint32_t, uint64_t>;

struct PReluFn {
  template <class T>
  T operator()(T x, T slope) const {
    const T product = WrapMul(x, slope);
    if constexpr (std::is_floating_point_v<T>) {
      // By their bits: compilers make a jump of a choice that saves a product, one that cannot be foretold.
      using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
      const Bits below = Bits(0) - static_cast<Bits>(x < T(0));
      return std::bit_cast<T>((std::bit_cast<Bits>(product) & below) | (std::bit_cast<Bits>(x) & ~below));
    } else {
      return x < T(0) ? product : x;
    }
  }
};
// Before version 7 the slope has one element, or one for each channel.
Tensor SlopeOfChannels(const RunContext& ctx) {
  const Tensor& slope = ctx.tensor(1);
  const Shape& x = ctx.tensor(0).shape();
  if (slope.NumElements() == 1) return slope.WithShape(Shape{});
  if (slope.rank() != 1 || x.rank() < 2 || slope.dim(0) != x[1])
    ctx.FailInput(1, fmt::format("shape {} is neither of one element nor of one for each channel of {}",
                                 slope.shape().ToString(), x.ToString()));
  Shape shape = slope.shape();
  for (int d = 2; d < x.rank(); ++d) shape.push_back(1);
  return slope.WithShape(std::move(shape));
}
void RunByChannel(RunContext& ctx) {
  const Tensor slope = SlopeOfChannels(ctx);
  const PReluFn fn;
  Dispatch(FloatList(), slope.dtype(), [&]<class T>(std::type_identity<T>) {
    RunRows(ctx, 2, slope.dtype(), kernels::BinaryRow<PReluFn, T, T, T>, &fn, &slope);
  });
}

void Run(RunContext& ctx) {
  if (BroadcastShapes(ctx, 2) != ctx.tensor(0).shape()) {
    ctx.FailInput(1, fmt::format("shape {} does not broadcast to {} of input 0", ctx.tensor(1).shape().ToString(),
                                 ctx.tensor(0).shape().ToString()));
  }
  RunBinary<PReluFn, PReluList>(ctx);
}

void ShapeRule(InferScope& scope) {
  scope.Broadcast(scope.InputShape(0), scope.InputShape(1));
  SetLikeInput(scope, 0, scope.InputShape(0));
}

void ShapeByChannel(InferScope& scope) {
  const OptimShape& x = scope.InputShape(0);
  const OptimShape& slope = scope.InputShape(1);
  OptimShape y = x;
  // One element serves any channels.
  if (!x.IsUnknown() && x.Rank() >= 2 && !slope.IsUnknown() && slope.Rank() == 1 && slope[0].IsInt() &&
      slope[0] != OptimDim(1))
    y[1] = scope.Unify(x[1], slope[0], "the channels of " + scope.InputSubject(0), scope.InputSubject(1));
  SetLikeInput(scope, 0, std::move(y));
}

OpDef VersionOf(int since, TypeSet types) {
  return {.domain = "",
          .type = "PRelu",
          .since_version = since,
          .inputs = {{"X", types, "T"}, {"slope", types, "T"}},
          .outputs = {{"Y", types, "T"}},
          .attributes = {},
          .shape = ShapeRule,
          .run = Run,
          .elementwise = 3};
}

OpDef ChannelVersion(int since) {
  OpDef op = VersionOf(since, kFloatTypes);
  op.attributes = {{"consumed_inputs", AttrKind::kInts}};
  op.shape = ShapeByChannel;
  op.run = RunByChannel;
  return op;
}

}  // namespace

std::span<const OpDef> prelu_ops() {
  static const OpDef ops[] = {
      ChannelVersion(1),
      VersionOf(7, kFloatTypes),
      VersionOf(9, PReluList::kSet),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
