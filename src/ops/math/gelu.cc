// SPDX-License-Identifier: Apache-2.0
// Gelu: x times the normal distribution function of x; with approximate "tanh" the usual approximation of that.
// https://onnx.ai/onnx/operators/onnx__Gelu.html
#include <fmt/format.h>

#include "ops/math/activation_op.h"
#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const std::string kind = ctx.attrs().String("approximate", "none");
  if (kind != "none" && kind != "tanh")
    ctx.Fail("attribute 'approximate'", fmt::format("is \"{}\", must be \"none\" or \"tanh\"", kind));
  RunFunction(ctx, {kind == "tanh" ? kernels::FunctionKind::kGeluTanh : kernels::FunctionKind::kGelu});
}

}  // namespace

std::span<const OpDef> gelu_ops() {
  static const OpDef ops[] = {
      UnaryOp("Gelu", 20, kFloatTypes, Run, {{"approximate", AttrKind::kString}}),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
