// SPDX-License-Identifier: Apache-2.0
// QuickGelu: x times the sigmoid of alpha x; alpha is 1.702 unless given.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.QuickGelu
#include "ops/math/activation_op.h"
#include "ops/math/elementwise_op.h"
#include "ops/microsoft/microsoft_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) { RunFunction(ctx, {kernels::FunctionKind::kSwish, ctx.attrs().Float("alpha", 1.702f)}); }

}  // namespace

std::span<const OpDef> quick_gelu_ops() {
  static const OpDef ops[] = {
      {.domain = kMicrosoft,
       .type = "QuickGelu",
       .since_version = 1,
       .inputs = {{"X", kFloatTypes, "T"}},
       .outputs = {{"Y", kFloatTypes, "T"}},
       .attributes = {{"alpha", AttrKind::kFloat}},
       .shape = PlainUnaryShape,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
