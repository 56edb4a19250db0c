// SPDX-License-Identifier: Apache-2.0
// RandomNormalLike: numbers of a normal distribution with the given mean and scale, in the dims of the input.
// https://onnx.ai/onnx/operators/onnx__RandomNormalLike.html
#include <cmath>
#include <numbers>

#include "ops/random/random_like_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct Moments {
  double mean, scale;
};
// Box and Muller's transform; 1 - u is never 0.
double Draw(RandomBits& bits, const void* data) {
  const auto& moments = *static_cast<const Moments*>(data);
  const double radius = std::sqrt(-2 * std::log(1 - bits.NextUnit()));
  return moments.mean + moments.scale * radius * std::cos(2 * std::numbers::pi * bits.NextUnit());
}

void Run(RunContext& ctx) {
  const Moments moments{ctx.attrs().Float("mean", 0), ctx.attrs().Float("scale", 1)};
  RunRandomLike(ctx, Draw, &moments);
}

}  // namespace

std::span<const OpDef> random_normal_like_ops() {
  static const OpDef ops[] = {RandomLikeOp("RandomNormalLike", "mean", "scale", Run)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
