// SPDX-License-Identifier: Apache-2.0
// RandomNormal: numbers of a normal distribution with the given mean and scale, in the dims that attribute shape says.
// https://onnx.ai/onnx/operators/onnx__RandomNormal.html
#include "ops/random/random_op.h"

namespace ONNX_LIGHT_NAMESPACE {
std::span<const OpDef> random_normal_ops() {
  static const OpDef ops[] = {RandomOp("RandomNormal", Distribution::kNormal)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
