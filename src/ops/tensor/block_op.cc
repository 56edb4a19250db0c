// SPDX-License-Identifier: Apache-2.0
#include "ops/tensor/block_op.h"

#include <fmt/format.h>

namespace ONNX_LIGHT_NAMESPACE {

int64_t ReadBlockSize(const NodeAttributes& attrs) {
  const int64_t size = attrs.Int("blocksize");
  // Its square must fit, too.
  if (size <= 0 || size > 0x7fffffff)
    FailAttribute("blocksize", fmt::format("is {}, must be in [1, 2147483647]", size));
  return size;
}

bool IsChannelFirst(const NodeAttributes& attrs) {
  const std::string mode = attrs.String("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") FailAttribute("mode", fmt::format("is \"{}\", must be DCR or CRD", mode));
  return mode == "CRD";
}

void CheckImage(const RunContext& ctx) {
  if (ctx.tensor(0).rank() != 4) ctx.FailInput(0, fmt::format("must have rank 4, got {}", ctx.tensor(0).TypeString()));
}

std::optional<OptimShape> ImageShape(InferScope& scope) {
  const OptimShape& shape = scope.InputShape(0);
  if (shape.IsUnknown()) {
    SetLikeInput(scope, 0, scope.FreshShape(4));
    return std::nullopt;
  }
  if (shape.Rank() != 4)
    scope.Fail(scope.InputSubject(0), fmt::format("must have rank 4, got {}", InferScope::Describe(scope.Input(0))));
  return shape;
}

}  // namespace ONNX_LIGHT_NAMESPACE
