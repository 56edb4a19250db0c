// SPDX-License-Identifier: Apache-2.0
// Adagrad (ai.onnx.preview.training): one update of tensors against their gradients, each element divided by the root
// of its squared gradients so far; the rate falls with the count of updates.
// https://onnx.ai/onnx/operators/onnx_aionnxpreviewtraining_Adagrad.html
#include "ops/training/optimizer_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const NodeAttributes attrs = ctx.attrs();
  const double decay = static_cast<double>(attrs.Float("decay_factor", 0));
  const double rate = ReadRate(ctx) / (1 + static_cast<double>(ReadCount(ctx)) * decay);
  RunOptimizer<1>(ctx, [&]<class T>(std::type_identity<T>) {
    return kernels::AdagradUpdate<T>{static_cast<T>(rate), static_cast<T>(attrs.Float("norm_coefficient", 0)),
                                     static_cast<T>(attrs.Float("epsilon", 1e-6f))};
  });
}

}  // namespace

std::span<const OpDef> adagrad_ops() {
  static const OpDef ops[] = {OptimizerOp(
      "Adagrad", 1,
      {{"decay_factor", AttrKind::kFloat}, {"epsilon", AttrKind::kFloat}, {"norm_coefficient", AttrKind::kFloat}},
      Run)};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
