// SPDX-License-Identifier: Apache-2.0
// OptionalGetElement (ai.onnx 15, 18): what the optional holds; an error when it holds nothing. A tensor or sequence
// (from version 18 on) is given back as it is. Elements are shared, not copied.
// https://onnx.ai/onnx/operators/onnx__OptionalGetElement.html
#include "ops/run_context.h"
#include "shapes/infer_scope.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr const char* kNothingInside = "holds nothing, so there is no element to get";

void InferGetElement(InferScope& scope) {
  const ShapeValue& input = scope.Input(0);
  if (!input.IsOptional()) return scope.SetOutput(0, input);
  if (input.Present() == false) scope.Fail(scope.InputSubject(0), kNothingInside);
  scope.SetOutput(0, input.Elem());
}

void RunGetElement(RunContext& ctx) {
  if (!ctx.HasInput(0)) ctx.FailInput(0, kNothingInside);
  ctx.SetOutput(0, ctx.TakeInput(0));
}

OpDef VersionOf(int since) {
  return {.domain = "",
          .type = "OptionalGetElement",
          .since_version = since,
          .inputs = {{.name = "input", .types = kAllTypes, .kind = FormalKind::kAny}},
          .outputs = {{.name = "output", .types = kAllTypes, .kind = FormalKind::kAny}},
          .attributes = {},
          .shape = InferGetElement,
          .run = RunGetElement};
}

}  // namespace

std::span<const OpDef> optional_get_element_ops() {
  static const OpDef ops[] = {VersionOf(15), VersionOf(18)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
