// SPDX-License-Identifier: Apache-2.0
// RandomNormalLike: numbers of a normal distribution with the given mean and scale, in the dims of the input.
// https://onnx.ai/onnx/operators/onnx__RandomNormalLike.html
#include "ops/random/random_op.h"

namespace ONNX_LIGHT_NAMESPACE {
std::span<const OpDef> random_normal_like_ops() {
  static const OpDef ops[] = {RandomLikeOp("RandomNormalLike", Distribution::kNormal)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
