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

std::vector<OpDef> BlockOps(std::string_view type, int mode_since, void (*shape)(InferScope&),
                            void (*run)(RunContext&)) {
  const auto version = [&](int since, std::vector<AttrDef> attributes) {
    return OpDef{.domain = "",
                 .type = type,
                 .since_version = since,
                 .inputs = {{"input", kAllTypes, "T"}},
                 .outputs = {{"output", kAllTypes, "T"}},
                 .attributes = std::move(attributes),
                 .shape = shape,
                 .run = run};
  };
  return {version(1, {{"blocksize", AttrKind::kInt, true}}),
          version(mode_since, {{"blocksize", AttrKind::kInt, true}, {"mode", AttrKind::kString}})};
}

}  // namespace ONNX_LIGHT_NAMESPACE
