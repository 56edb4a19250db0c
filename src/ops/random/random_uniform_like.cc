// SPDX-License-Identifier: Apache-2.0
// RandomUniformLike: numbers spread evenly over [low, high), in the dims of the input.
// https://onnx.ai/onnx/operators/onnx__RandomUniformLike.html
#include "ops/random/random_like_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct Bounds {
  double low, high;
};
double Draw(RandomBits& bits, const void* data) {
  const auto& bounds = *static_cast<const Bounds*>(data);
  return bounds.low + (bounds.high - bounds.low) * bits.NextUnit();
}

void Run(RunContext& ctx) {
  const Bounds bounds{ctx.attrs().Float("low", 0), ctx.attrs().Float("high", 1)};
  RunRandomLike(ctx, Draw, &bounds);
}

}  // namespace

std::span<const OpDef> random_uniform_like_ops() {
  static const OpDef ops[] = {RandomLikeOp("RandomUniformLike", "low", "high", Run)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
