// SPDX-License-Identifier: Apache-2.0
// PRelu: x, slope x where it is negative; the slope broadcasts to x. Integers wrap.
// https://onnx.ai/onnx/operators/onnx__PRelu.html
#include <fmt/format.h>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using PReluList = TypeList<float, double, Float16, BFloat16, int32_t, int64_t, uint32_t, uint64_t>;

struct PReluFn {
  template <class T>
  T operator()(T x, T slope) const {
    return x < T(0) ? WrapMul(x, slope) : x;
  }
};
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

}  // namespace

std::span<const OpDef> prelu_ops() {
  static const OpDef ops[] = {
      VersionOf(7, kFloatTypes),
      VersionOf(9, PReluList::kSet),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
