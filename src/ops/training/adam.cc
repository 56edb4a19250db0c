// SPDX-License-Identifier: Apache-2.0
// Adam (ai.onnx.preview.training): one update of tensors along the running means of their gradients, each element
// divided by the root of the running mean of its squared gradients. After T updates, T > 0, the rate makes up for means
// that began at zero; at last the part norm_coefficient_post of the result is taken away.
// https://onnx.ai/onnx/operators/onnx_aionnxpreviewtraining_Adam.html
#include "ops/training/optimizer_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const NodeAttributes attrs = ctx.attrs();
  const float alpha = attrs.Float("alpha", 0.9f), beta = attrs.Float("beta", 0.999f);
  double rate = ReadRate(ctx);
  if (const int64_t count = ReadCount(ctx); count > 0) {
    const auto missing = [count](float kept) {
      return 1 - std::pow(static_cast<double>(kept), static_cast<double>(count));
    };
    rate *= std::sqrt(missing(beta)) / missing(alpha);
  }
  RunOptimizer<2>(ctx, [&]<class T>(std::type_identity<T>) {
    return kernels::AdamUpdate<T>{static_cast<T>(rate),
                                  static_cast<T>(attrs.Float("norm_coefficient", 0)),
                                  static_cast<T>(alpha),
                                  static_cast<T>(beta),
                                  static_cast<T>(attrs.Float("epsilon", 1e-6f)),
                                  static_cast<T>(attrs.Float("norm_coefficient_post", 0))};
  });
}

}  // namespace

std::span<const OpDef> adam_ops() {
  static const OpDef ops[] = {OptimizerOp("Adam", 2,
                                          {{"alpha", AttrKind::kFloat},
                                           {"beta", AttrKind::kFloat},
                                           {"epsilon", AttrKind::kFloat},
                                           {"norm_coefficient", AttrKind::kFloat},
                                           {"norm_coefficient_post", AttrKind::kFloat}},
                                          Run)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
