// SPDX-License-Identifier: Apache-2.0
// TreeEnsembleRegressor: for each row and target the sum, average, least or greatest of the weights of the leaves the
// row comes to, one in each tree, plus the base value, transformed. Comparisons and sums are in double. A transform is
// done for one target as for several (onnxruntime then does PROBIT only). Deprecated in version 5, and still run.
// https://onnx.ai/onnx/operators/onnx_aionnxml_TreeEnsembleRegressor.html
#include <fmt/format.h>

#include "ops/ml/trees.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct State : OpState {
  Trees trees;
  std::vector<double> base;
  TreeAggregate aggregate;
  PostTransform transform;
};

int64_t Targets(const NodeAttributes& attrs) {
  const int64_t targets = attrs.Int("n_targets");
  if (targets < 1) FailAttribute("n_targets", fmt::format("is {}, must be at least 1", targets));
  return targets;
}

TreeAggregate ReadAggregate(const NodeAttributes& attrs) {
  const std::string name = attrs.String("aggregate_function", "SUM");
  if (name == "SUM") return TreeAggregate::kSum;
  if (name == "AVERAGE") return TreeAggregate::kAverage;
  if (name == "MIN") return TreeAggregate::kMin;
  if (name != "MAX")
    FailAttribute("aggregate_function", fmt::format("is \"{}\", must be SUM, AVERAGE, MIN or MAX", name));
  return TreeAggregate::kMax;
}

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  const NodeAttributes attrs = ctx.attrs();
  auto state = std::make_unique<State>();
  state->aggregate = ReadAggregate(attrs);
  state->transform = ReadPostTransform(attrs);
  state->trees =
      ReadNamedTrees(attrs, Targets(attrs), {"target_ids", "target_nodeids", "target_treeids", "target_weights"});
  state->base = ReadWeights(attrs, "base_values");
  const auto targets = static_cast<size_t>(state->trees.targets);
  if (!state->base.empty() && state->base.size() != targets)
    FailAttribute("base_values", fmt::format("has {} elements for {} targets", state->base.size(), targets));
  return state;
}

void Run(RunContext& ctx) {
  const State& state = ctx.state<State>();
  const int64_t targets = state.trees.targets;
  const Tensor& x = ctx.tensor(0);
  Tensor y(TensorType::kFloat, Shape{x.rank() == 2 ? x.dim(0) : 1, targets});
  float* const out = y.MutableView<float>().data();
  ScoreRows(ctx, state.trees, state.aggregate, [&](int64_t row, std::span<double> scores) {
    for (size_t i = 0; i < state.base.size(); ++i) scores[i] += state.base[i];
    Transform(state.transform, scores);
    for (int64_t i = 0; i < targets; ++i) out[row * targets + i] = static_cast<float>(scores[static_cast<size_t>(i)]);
  });
  ctx.SetOutput(0, std::move(y));
}

void ShapeRule(InferScope& scope) {
  scope.SetTensor(0, TensorType::kFloat, OptimShape{RowsDim(scope), OptimDim(Targets(scope.attrs()))});
}

OpDef VersionOf(int since) {
  std::vector<AttrDef> own = {{"aggregate_function", AttrKind::kString}, {"n_targets", AttrKind::kInt},
                              {"target_ids", AttrKind::kInts},           {"target_nodeids", AttrKind::kInts},
                              {"target_treeids", AttrKind::kInts},       {"target_weights", AttrKind::kFloats}};
  if (since >= 3) own.push_back({"target_weights_as_tensor", AttrKind::kTensor});
  return {.domain = "ai.onnx.ml",
          .type = "TreeEnsembleRegressor",
          .since_version = since,
          .inputs = {{"X", kMlNumberTypes}},
          .outputs = {{"Y", {TensorType::kFloat}}},
          .attributes = NamedTreeAttributes(since >= 3, std::move(own)),
          .shape = ShapeRule,
          .prepare = Prepare,
          .run = Run};
}

}  // namespace

std::span<const OpDef> tree_ensemble_regressor_ops() {
  static const OpDef ops[] = {
      VersionOf(1),
      VersionOf(3),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
