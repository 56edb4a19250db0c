// SPDX-License-Identifier: Apache-2.0
// TreeEnsemble: for each row and target the sum, average, least or greatest of the weights of the leaves the row comes
// to, one in each tree. NaN goes where nodes_missing_value_tracks_true says, in every mode (the reference evaluator of
// the onnx package sends it to the true branch of a node that asks for "not equal").
// https://onnx.ai/onnx/operators/onnx_aionnxml_TreeEnsemble.html
#include <fmt/format.h>

#include "ops/ml/trees.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct State : OpState {
  Trees trees;
  TreeAggregate aggregate;
  PostTransform transform;
};

int64_t Targets(const NodeAttributes& attrs) {
  const int64_t targets = attrs.Int("n_targets");
  if (targets < 1) FailAttribute("n_targets", fmt::format("is {}, must be at least 1", targets));
  return targets;
}

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  const NodeAttributes attrs = ctx.attrs();
  auto state = std::make_unique<State>();
  const int64_t aggregate = attrs.Int("aggregate_function", static_cast<int64_t>(TreeAggregate::kSum));
  if (aggregate < 0 || aggregate > static_cast<int64_t>(TreeAggregate::kMax))
    FailAttribute("aggregate_function", fmt::format("is {}, expected 0 to 3", aggregate));
  state->aggregate = static_cast<TreeAggregate>(aggregate);
  state->transform = ReadPostTransformNumber(attrs);
  state->trees = ReadIndexedTrees(attrs, Targets(attrs));
  return state;
}

void Run(RunContext& ctx) {
  const State& state = ctx.state<State>();
  const int64_t targets = state.trees.targets;
  const Tensor& x = ctx.tensor(0);
  Tensor y(TensorType::kDouble, Shape{x.rank() == 2 ? x.dim(0) : 1, targets});
  const std::span<double> out = y.MutableView<double>();
  ScoreRows(ctx, state.trees, state.aggregate, [&](int64_t row, std::span<double> scores) {
    Transform(state.transform, scores);
    std::ranges::copy(scores, out.begin() + row * targets);
  });
  ctx.SetOutput(0, AsType(y, x.dtype()));
}

void ShapeRule(InferScope& scope) {
  scope.SetTensor(0, scope.InputType(0), OptimShape{RowsDim(scope), OptimDim(Targets(scope.attrs()))});
}

constexpr TypeSet kTypes{TensorType::kFloat, TensorType::kDouble, TensorType::kFloat16};

}  // namespace

std::span<const OpDef> tree_ensemble_ops() {
  static const OpDef ops[] = {
      {.domain = "ai.onnx.ml",
       .type = "TreeEnsemble",
       .since_version = 5,
       .inputs = {{"X", kTypes, "T"}},
       .outputs = {{"Y", kTypes, "T"}},
       .attributes = {{"aggregate_function", AttrKind::kInt},
                      {"leaf_targetids", AttrKind::kInts, true},
                      {"leaf_weights", AttrKind::kTensor, true},
                      {"membership_values", AttrKind::kTensor},
                      {"n_targets", AttrKind::kInt},
                      {"nodes_falseleafs", AttrKind::kInts, true},
                      {"nodes_falsenodeids", AttrKind::kInts, true},
                      {"nodes_featureids", AttrKind::kInts, true},
                      {"nodes_hitrates", AttrKind::kTensor},
                      {"nodes_missing_value_tracks_true", AttrKind::kInts},
                      {"nodes_modes", AttrKind::kTensor, true},
                      {"nodes_splits", AttrKind::kTensor, true},
                      {"nodes_trueleafs", AttrKind::kInts, true},
                      {"nodes_truenodeids", AttrKind::kInts, true},
                      {"post_transform", AttrKind::kInt},
                      {"tree_roots", AttrKind::kInts, true}},
       .shape = ShapeRule,
       .prepare = Prepare,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
