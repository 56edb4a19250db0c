// SPDX-License-Identifier: Apache-2.0
// QuickGelu: x times the sigmoid of alpha x; alpha is 1.702 unless given.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.QuickGelu
#include <cmath>

#include "ops/math/elementwise_op.h"
#include "ops/microsoft/microsoft_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct QuickGeluFn {
  float alpha;
  template <class T>
  T operator()(T x) const {
    return x / (T(1) + std::exp(static_cast<T>(-alpha) * x));
  }
};
void Run(RunContext& ctx) { RunUnary(ctx, QuickGeluFn{ctx.attrs().Float("alpha", 1.702f)}); }

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
