// SPDX-License-Identifier: Apache-2.0
// Scaler: (x - offset) * scale as float, with one offset and scale for all features or one for each place along the
// last axis. https://onnx.ai/onnx/operators/onnx_aionnxml_Scaler.html
#include <fmt/format.h>

#include "ops/ml/ml_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct State : OpState {
  std::vector<float> offset, scale;
};

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  auto state = std::make_unique<State>();
  state->offset = ctx.attrs().Floats("offset");
  state->scale = ctx.attrs().Floats("scale");
  CheckSameSize("offset", state->offset.size(), "scale", state->scale.size());
  if (state->scale.empty()) FailAttribute("scale", "is required");
  return state;
}

void Run(RunContext& ctx) {
  const State& state = ctx.state<State>();
  const Tensor x = AsType(ctx.tensor(0), TensorType::kFloat);
  const size_t n = state.scale.size();
  const int64_t features = x.rank() == 0 ? 1 : x.dim(x.rank() - 1);
  if (n != 1 && static_cast<int64_t>(n) != features)
    ctx.FailInput(0, fmt::format("must have {} features, as 'scale' has, got {}", n, ctx.tensor(0).TypeString()));
  Tensor& y = ctx.AllocateOutput(0, TensorType::kFloat, x.shape());
  const std::span<const float> from = x.View<float>();
  const std::span<float> to = y.MutableView<float>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = (from[i] - state.offset[i % n]) * state.scale[i % n];
}

void ShapeRule(InferScope& scope) { scope.SetTensor(0, TensorType::kFloat, scope.InputShape(0)); }

}  // namespace

std::span<const OpDef> scaler_ops() {
  static const OpDef ops[] = {
      {.domain = "ai.onnx.ml",
       .type = "Scaler",
       .since_version = 1,
       .inputs = {{"X", kMlNumberTypes}},
       .outputs = {{"Y", {TensorType::kFloat}}},
       .attributes = {{"offset", AttrKind::kFloats}, {"scale", AttrKind::kFloats}},
       .shape = ShapeRule,
       .prepare = Prepare,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
