// SPDX-License-Identifier: Apache-2.0
// Binarizer: 1 where an element is greater than the threshold, 0 elsewhere.
// https://onnx.ai/onnx/operators/onnx_aionnxml_Binarizer.html
#include "ops/ml/ml_op.h"
#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using Types = TypeList<float, double, int64_t, int32_t>;

void Run(RunContext& ctx) {
  const float threshold = ctx.attrs().Float("threshold", 0);
  const Tensor x = ctx.tensor(0);
  Tensor& y = ctx.AllocateOutput(0, x.dtype(), x.shape());
  Dispatch(Types(), x.dtype(), [&]<class T>(std::type_identity<T>) {
    const std::span<const T> from = x.View<T>();
    const std::span<T> to = y.MutableView<T>();
    for (size_t i = 0; i < to.size(); ++i)
      to[i] = static_cast<T>(static_cast<double>(from[i]) > static_cast<double>(threshold) ? 1 : 0);
  });
}

void ShapeRule(InferScope& scope) { SetLikeInput(scope, 0, scope.InputShape(0)); }

}  // namespace

std::span<const OpDef> binarizer_ops() {
  static const OpDef ops[] = {
      {.domain = "ai.onnx.ml",
       .type = "Binarizer",
       .since_version = 1,
       .inputs = {{"X", kMlNumberTypes, "T"}},
       .outputs = {{"Y", kMlNumberTypes, "T"}},
       .attributes = {{"threshold", AttrKind::kFloat}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
