// SPDX-License-Identifier: Apache-2.0
// OptionalHasElement (ai.onnx 15, 18): a bool scalar, whether the optional holds something. From version 18 on the
// input may be left out, which is nothing, or be a tensor or sequence, which is something.
// https://onnx.ai/onnx/operators/onnx__OptionalHasElement.html
#include "ops/run_context.h"
#include "shapes/infer_scope.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void InferHasElement(InferScope& scope) {
  scope.SetTensor(0, TensorType::kBool, OptimShape());
  const ShapeValue& input = scope.Input(0);
  std::optional<bool> has;
  if (!scope.HasInput(0)) {
    has = false;
  } else if (input.IsOptional()) {
    has = input.Present();
  } else if (!input.IsUnknown()) {
    has = true;
  }
  if (has) scope.SetKnown(0, {OptimDim(*has ? 1 : 0)});
}

void RunHasElement(RunContext& ctx) { ctx.SetOutput(0, Tensor::Scalar<bool>(ctx.HasInput(0))); }

OpDef VersionOf(int since, FormalCount count) {
  return {.domain = "",
          .type = "OptionalHasElement",
          .since_version = since,
          .inputs = {{.name = "input", .types = kAllTypes, .kind = FormalKind::kAny, .count = count}},
          .outputs = {{.name = "output", .types = kBoolType}},
          .attributes = {},
          .shape = InferHasElement,
          .run = RunHasElement};
}

}  // namespace

std::span<const OpDef> optional_has_element_ops() {
  static const OpDef ops[] = {VersionOf(15, FormalCount::kOne), VersionOf(18, FormalCount::kOptional)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
