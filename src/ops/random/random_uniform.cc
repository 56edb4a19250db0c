// SPDX-License-Identifier: Apache-2.0
// RandomUniform: numbers spread evenly over [low, high), in the dims that attribute shape says.
// https://onnx.ai/onnx/operators/onnx__RandomUniform.html
#include "ops/random/random_op.h"

namespace ONNX_LIGHT_NAMESPACE {
std::span<const OpDef> random_uniform_ops() {
  static const OpDef ops[] = {RandomOp("RandomUniform", Distribution::kUniform)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
