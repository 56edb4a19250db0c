// SPDX-License-Identifier: Apache-2.0
// Momentum (ai.onnx.preview.training): one update of tensors along their averaged gradients, mode `standard`, or
// `nesterov`, which looks one update ahead. At the first update, T = 0, beta counts as 1.
// https://onnx.ai/onnx/operators/onnx_aionnxpreviewtraining_Momentum.html
#include <fmt/format.h>

#include "ops/training/optimizer_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const NodeAttributes attrs = ctx.attrs();
  const std::string mode = attrs.String("mode", "standard");
  if (mode != "standard" && mode != "nesterov")
    FailAttribute("mode", fmt::format("is \"{}\", must be standard or nesterov", mode));
  const double rate = ReadRate(ctx);
  const float beta = ReadCount(ctx) > 0 ? attrs.Float("beta", 1) : 1.0f;
  RunOptimizer<1>(ctx, [&]<class T>(std::type_identity<T>) {
    return kernels::MomentumUpdate<T>{static_cast<T>(rate), static_cast<T>(attrs.Float("norm_coefficient", 0)),
                                      static_cast<T>(attrs.Float("alpha", 0)), static_cast<T>(beta),
                                      mode == "nesterov"};
  });
}

}  // namespace

std::span<const OpDef> momentum_ops() {
  static const OpDef ops[] = {OptimizerOp("Momentum", 1,
                                          {{"alpha", AttrKind::kFloat, true},
                                           {"beta", AttrKind::kFloat, true},
                                           {"mode", AttrKind::kString, true},
                                           {"norm_coefficient", AttrKind::kFloat, true}},
                                          Run)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
