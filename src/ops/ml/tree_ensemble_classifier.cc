// SPDX-License-Identifier: Apache-2.0
// TreeEnsembleClassifier: for each row the scores of the classes, the sums of the votes of the leaves the row comes to,
// one in each tree, plus base values; and the label of the greatest. Where there are two classes, all votes are for the
// first and there is no base value but one, exporters mean the score s to speak for the second class: with weights that
// are probabilities (none negative) that wins above 0.5, otherwise above 0; the scores are the transforms of -s and s,
// or 1 - s and s for probabilities that are not transformed, and for PROBIT. onnxruntime has it alike, but does not do
// SOFTMAX there. One class alone is not supported. Deprecated in version 5, and still run.
// https://onnx.ai/onnx/operators/onnx_aionnxml_TreeEnsembleClassifier.html
#include <fmt/format.h>

#include <algorithm>

#include "onnxseq/errors.h"
#include "ops/ml/trees.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr std::string_view kInts = "classlabels_int64s", kStrings = "classlabels_strings";

struct State : OpState {
  Trees trees;
  std::vector<double> base;
  Tensor labels;
  PostTransform transform;
  bool binary = false;         // one score for two classes
  bool probabilities = false;  // no weight is negative
};

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  const NodeAttributes attrs = ctx.attrs();
  auto state = std::make_unique<State>();
  state->labels = ReadLabels(attrs, kInts, kStrings);
  state->transform = ReadPostTransform(attrs);
  const int64_t classes = state->labels.NumElements();
  if (classes < 2) throw Unsupported("one class alone is not supported");
  state->trees = ReadNamedTrees(attrs, classes, {"class_ids", "class_nodeids", "class_treeids", "class_weights"});
  state->base = ReadWeights(attrs, "base_values");
  const auto& votes = state->trees.votes;
  const size_t bases = state->base.size();
  state->binary = classes == 2 && bases <= 1 && !votes.empty() &&
                  std::ranges::all_of(votes, [](const auto& vote) { return vote.target == 0; });
  state->probabilities = std::ranges::all_of(votes, [](const auto& vote) { return vote.weight >= 0; });
  if (bases != 0 && bases != static_cast<size_t>(classes) && !state->binary)
    FailAttribute("base_values", fmt::format("has {} elements for {} classes", bases, classes));
  return state;
}

// The place of the winning label; scores become those of the two classes.
int64_t FinishBinary(const State& state, std::span<double> scores) {
  const double s = scores[0] + (state.base.empty() ? 0 : state.base[0]);
  const bool as_probability =
      state.transform == PostTransform::kProbit || (state.probabilities && state.transform == PostTransform::kNone);
  scores[0] = as_probability ? 1 - s : -s;
  scores[1] = s;
  Transform(state.transform, scores);
  return s > (state.probabilities ? 0.5 : 0) ? 1 : 0;
}

void Run(RunContext& ctx) {
  const State& state = ctx.state<State>();
  const int64_t classes = state.trees.targets;
  const Tensor& x = ctx.tensor(0);
  const int64_t rows = x.rank() == 2 ? x.dim(0) : 1;
  Tensor z(TensorType::kFloat, Shape{rows, classes});
  float* const out = z.MutableView<float>().data();
  std::vector<int64_t> best(static_cast<size_t>(rows));
  ScoreRows(ctx, state.trees, TreeAggregate::kSum, [&](int64_t row, std::span<double> scores) {
    int64_t& winner = best[static_cast<size_t>(row)];
    if (state.binary) {
      winner = FinishBinary(state, scores);
    } else {
      for (size_t i = 0; i < state.base.size(); ++i) scores[i] += state.base[i];
      winner = std::ranges::max_element(scores) - scores.begin();
      Transform(state.transform, scores);
    }
    for (int64_t i = 0; i < classes; ++i) out[row * classes + i] = static_cast<float>(scores[static_cast<size_t>(i)]);
  });
  SetLabels(ctx, 0, state.labels, best);
  ctx.SetOutput(1, std::move(z));
}

void ShapeRule(InferScope& scope) {
  const OptimDim rows = RowsDim(scope);
  scope.SetTensor(0, LabelType(scope.attrs(), kStrings), OptimShape{rows});
  scope.SetTensor(1, TensorType::kFloat, OptimShape{rows, OptimDim(CountLabels(scope.attrs(), kInts, kStrings))});
}

OpDef VersionOf(int since) {
  std::vector<AttrDef> own = {{"class_ids", AttrKind::kInts},     {"class_nodeids", AttrKind::kInts},
                              {"class_treeids", AttrKind::kInts}, {"class_weights", AttrKind::kFloats},
                              {kInts, AttrKind::kInts},           {kStrings, AttrKind::kStrings}};
  if (since >= 3) own.push_back({"class_weights_as_tensor", AttrKind::kTensor});
  return {.domain = "ai.onnx.ml",
          .type = "TreeEnsembleClassifier",
          .since_version = since,
          .inputs = {{"X", kMlNumberTypes}},
          .outputs = {{"Y", kMlLabelTypes}, {"Z", {TensorType::kFloat}}},
          .attributes = NamedTreeAttributes(since >= 3, std::move(own)),
          .shape = ShapeRule,
          .prepare = Prepare,
          .run = Run};
}

}  // namespace

std::span<const OpDef> tree_ensemble_classifier_ops() {
  static const OpDef ops[] = {
      VersionOf(1),
      VersionOf(3),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
