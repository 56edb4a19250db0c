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

void SetRunning(InferScope& scope, OptimDim first, OptimDim (*fold)(const OptimDim&, const OptimDim&)) {
  ShapeRule(scope);
  const KnownElements* elements = InputElements(scope, 0);
  if (elements == nullptr || scope.InputShape(0).Rank() != 1 || !CarriesValues(scope.InputType(0))) return;
  const bool exclusive = scope.attrs().Int("exclusive", 0) != 0, reverse = scope.attrs().Int("reverse", 0) != 0;
  const size_t n = elements->size();
  KnownElements running(n);
  std::optional<OptimDim> now = std::move(first);
  for (size_t i = 0; i < n; ++i) {
    const size_t at = reverse ? n - 1 - i : i;
    const std::optional<OptimDim> before = now;
    now = now && (*elements)[at] ? std::optional(fold(*now, *(*elements)[at])) : std::nullopt;
    running[at] = exclusive ? before : now;
    if (running[at] && !Fits(*running[at], scope.InputType(0))) running[at].reset();
  }
  SetTensorWithElements(scope, 0, scope.InputType(0), scope.InputShape(0), std::move(running));
}

OpDef CumulativeOp(std::string_view type, int since, void (*run)(RunContext&), void (*shape)(InferScope&)) {
  return {.domain = "",
          .type = type,
          .since_version = since,
          .inputs = {{"x", kReduceTypes, "T"}, {"axis", kIndexTypes}},
          .outputs = {{"y", kReduceTypes, "T"}},
          .attributes = {{"exclusive", AttrKind::kInt}, {"reverse", AttrKind::kInt}},
          .shape = shape,
          .run = run};
}

}  // namespace ONNX_LIGHT_NAMESPACE
