// SPDX-License-Identifier: Apache-2.0
#include "ops/tensor/block_op.h"

#include <fmt/format.h>

#include "ops/unified_size.h"

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

void CheckImage(const RunContext& ctx) { CheckRank(ctx, 0, 4); }

std::optional<OptimShape> ImageShape(InferScope& scope) {
  if (const OptimShape* const shape = RankedInput(scope, 0, 4)) return *shape;
  SetLikeInput(scope, 0, scope.FreshShape(4));
  return std::nullopt;
}

}  // namespace ONNX_LIGHT_NAMESPACE
