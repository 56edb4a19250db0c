// SPDX-License-Identifier: Apache-2.0
// Optional (ai.onnx 15): an optional that holds the input, or, without input, one that holds nothing; then attribute
// `type` says of what type it would be. An optional at run time is what it holds, or nothing: elements are shared.
// https://onnx.ai/onnx/operators/onnx__Optional.html
#include "ops/run_context.h"
#include "shapes/infer_scope.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// What an optional without input would hold.
const TypeProto& DeclaredType(const NodeAttributes& attrs) {
  const AttributeProto* type = attrs.Find("type");
  if (type == nullptr) FailAttribute("type", "is required when there is no input");
  return type->tp();
}

void InferOptional(InferScope& scope) {
  if (scope.HasInput(0)) {
    const ShapeValue& held = scope.Input(0);
    scope.SetOutput(0, held.IsOptional() ? held : ShapeValue::Optional(held, true));
    return;
  }
  const TypeProto& type = DeclaredType(scope.attrs());
  scope.SetOutput(0, ShapeValue::Optional(onnx_optim::shapes::FromTypeProto(type, scope.context()), false));
}

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  if (!ctx.HasInput(0)) static_cast<void>(DeclaredType(ctx.attrs()));
  return nullptr;
}

void RunOptional(RunContext& ctx) { ctx.SetOutput(0, ctx.HasInput(0) ? ctx.TakeInput(0) : Value()); }

}  // namespace

std::span<const OpDef> optional_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "Optional",
       .since_version = 15,
       .inputs = {{.name = "input", .types = kAllTypes, .kind = FormalKind::kAny, .count = FormalCount::kOptional}},
       .outputs = {{.name = "output", .types = kAllTypes, .kind = FormalKind::kAny}},
       .attributes = {{"type", AttrKind::kType}},
       .shape = InferOptional,
       .prepare = Prepare,
       .run = RunOptional}};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
