// SPDX-License-Identifier: Apache-2.0
// LRN: local response normalisation: each element over (bias + alpha / size * s)^beta, s the sum of squares over the
// `size` channels (axis 1) around it.
// https://onnx.ai/onnx/operators/onnx__LRN.html
#include <fmt/format.h>

#include "kernels/normalize/normalize.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  if (x.rank() < 2) ctx.FailInput(0, fmt::format("must have rank 2 or more, got {}", x.TypeString()));
  const NodeAttributes attrs = ctx.attrs();
  const kernels::ResponseNormalization how{.size = attrs.Int("size"),
                                           .alpha = static_cast<double>(attrs.Float("alpha", 1e-4f)),
                                           .beta = static_cast<double>(attrs.Float("beta", 0.75f)),
                                           .bias = static_cast<double>(attrs.Float("bias", 1))};
  if (how.size < 1) ctx.Fail("attribute 'size'", fmt::format("is {}, must be 1 or more", how.size));
  Tensor& y = ctx.AllocateOutput(0, x.dtype(), x.shape());
  kernels::NormalizeResponse(x.dtype(), x.data(), y.mutable_data(), x.dim(0), x.dim(1),
                             DimsProduct(x.shape().dims(), 2, x.rank()), how, [&] { ctx.CheckCancelled(); });
}

void ShapeRule(InferScope& scope) { SetLikeInput(scope, 0, scope.InputShape(0)); }

}  // namespace

std::span<const OpDef> lrn_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "LRN",
       .since_version = 1,
       .inputs = {{"X", kFloatTypes, "T"}},
       .outputs = {{"Y", kFloatTypes, "T"}},
       .attributes = {{"alpha", AttrKind::kFloat},
                      {"beta", AttrKind::kFloat},
                      {"bias", AttrKind::kFloat},
                      {"size", AttrKind::kInt, true}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
