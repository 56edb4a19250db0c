// SPDX-License-Identifier: Apache-2.0
// Identity: the input, whatever kind of value it is; elements are shared, not copied. Sequences from version 14 on,
// optionals from 16 on. https://onnx.ai/onnx/operators/onnx__Identity.html
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) { ctx.SetOutput(0, ctx.TakeInput(0)); }

void ShapeRule(InferScope& scope) { scope.SetOutput(0, scope.Input(0)); }

OpDef VersionOf(int since, FormalKind kind) {
  return {.domain = "",
          .type = "Identity",
          .since_version = since,
          .inputs = {{.name = "input", .types = kAllTypes, .type_var = "V", .kind = kind}},
          .outputs = {{.name = "output", .types = kAllTypes, .type_var = "V", .kind = kind}},
          .attributes = {},
          .shape = ShapeRule,
          .run = Run};
}

}  // namespace

std::span<const OpDef> identity_ops() {
  static const OpDef ops[] = {
      VersionOf(1, FormalKind::kTensor),
      VersionOf(14, FormalKind::kTensorOrSequence),
      VersionOf(16, FormalKind::kAny),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
