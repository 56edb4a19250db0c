// SPDX-License-Identifier: Apache-2.0
#include "ops/math/cumulative_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void ShapeRule(InferScope& scope) {
  const OptimShape& shape = scope.InputShape(0);
  const std::optional<std::vector<int64_t>> axis = scope.InputInts(1);
  if (!shape.IsUnknown() && axis && axis->size() == 1)
    scope.NormalizeAxis((*axis)[0], static_cast<int>(shape.Rank()), scope.InputSubject(1));
  SetLikeInput(scope, 0, shape);
}

}  // namespace

OpDef CumulativeOp(std::string_view type, int since, void (*run)(RunContext&)) {
  return {.domain = "",
          .type = type,
          .since_version = since,
          .inputs = {{"x", kReduceTypes, "T"}, {"axis", kIndexTypes}},
          .outputs = {{"y", kReduceTypes, "T"}},
          .attributes = {{"exclusive", AttrKind::kInt}, {"reverse", AttrKind::kInt}},
          .shape = ShapeRule,
          .run = run};
}

}  // namespace ONNX_LIGHT_NAMESPACE
