// SPDX-License-Identifier: Apache-2.0
// RandomUniformLike: numbers spread evenly over [low, high), in the dims of the input.
// https://onnx.ai/onnx/operators/onnx__RandomUniformLike.html
#include "ops/random/random_op.h"

namespace ONNX_LIGHT_NAMESPACE {
std::span<const OpDef> random_uniform_like_ops() {
  static const OpDef ops[] = {RandomLikeOp("RandomUniformLike", Distribution::kUniform)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
