// SPDX-License-Identifier: Apache-2.0
// LinearClassifier: for each row the scores of the classes, a linear function each, transformed, and the label of the
// greatest. One score s for two labels stands for -s and s, as the reference evaluator of the onnx package has it
// (onnxruntime: 1 - s and s unless LOGISTIC). multi_class changes nothing. Each function takes as many coefficients as
// rows have features, one function's after the other's; some models carry more than these, which count for nothing.
// https://onnx.ai/onnx/operators/onnx_aionnxml_LinearClassifier.html
#include <fmt/format.h>

#include <algorithm>

#include "onnxseq/errors.h"
#include "ops/ml/ml_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr std::string_view kInts = "classlabels_ints", kStrings = "classlabels_strings";

struct Model : OpState {
  std::vector<float> coefficients, intercepts;
  Tensor labels;
  PostTransform transform;
  int64_t features = 0;
};

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  const NodeAttributes attrs = ctx.attrs();
  auto model = std::make_unique<Model>();
  model->coefficients = attrs.Floats("coefficients");
  model->intercepts = attrs.Floats("intercepts");
  model->labels = ReadLabels(attrs, kInts, kStrings);
  model->transform = ReadPostTransform(attrs);
  const auto classes = static_cast<size_t>(model->labels.NumElements());
  if (classes == 1) throw Unsupported("one class alone is not supported");
  if (model->intercepts.empty()) model->intercepts.resize(classes);
  const size_t scores = model->intercepts.size();
  if ((scores != classes && !(scores == 1 && classes == 2)) || model->coefficients.size() % scores != 0)
    throw InvalidArgument(fmt::format("{} labels, {} coefficients and {} intercepts do not go together", classes,
                                      model->coefficients.size(), scores));
  model->features = static_cast<int64_t>(model->coefficients.size() / scores);
  return model;
}

void Run(RunContext& ctx) {
  const Model& model = ctx.state<Model>();
  const MlRows rows = ReadRows(ctx, TensorType::kFloat);
  if (rows.features > model.features)
    ctx.FailInput(0, fmt::format("must be rows of at most {}, got {}", model.features, ctx.tensor(0).TypeString()));
  const int64_t classes = model.labels.NumElements();
  Tensor scores(TensorType::kFloat, Shape{rows.count, classes});
  float* z = scores.MutableView<float>().data();
  std::vector<int64_t> best;
  const float* row = rows.x.View<float>().data();
  for (int64_t r = 0; r < rows.count; ++r, row += rows.features, z += classes) {
    const float* coefficient = model.coefficients.data();
    for (size_t c = 0; c < model.intercepts.size(); ++c) {
      auto sum = static_cast<double>(model.intercepts[c]);
      for (int64_t f = 0; f < rows.features; ++f)
        sum += static_cast<double>(*coefficient++) * static_cast<double>(row[f]);
      z[c] = static_cast<float>(sum);
    }
    if (model.intercepts.size() == 1) {
      z[1] = z[0];
      z[0] = -z[0];
    }
    best.push_back(std::max_element(z, z + classes) - z);
    Transform(model.transform, std::span<float>(z, static_cast<size_t>(classes)));
  }
  SetLabels(ctx, 0, model.labels, best);
  ctx.SetOutput(1, std::move(scores));
}

void ShapeRule(InferScope& scope) {
  const OptimDim rows = RowsDim(scope);
  scope.SetTensor(0, LabelType(scope.attrs(), kStrings), OptimShape{rows});
  scope.SetTensor(1, TensorType::kFloat, OptimShape{rows, OptimDim(CountLabels(scope.attrs(), kInts, kStrings))});
}

}  // namespace

std::span<const OpDef> linear_classifier_ops() {
  static const OpDef ops[] = {
      {.domain = "ai.onnx.ml",
       .type = "LinearClassifier",
       .since_version = 1,
       .inputs = {{"X", kMlNumberTypes}},
       .outputs = {{"Y", kMlLabelTypes}, {"Z", {TensorType::kFloat}}},
       .attributes = {{kInts, AttrKind::kInts},
                      {kStrings, AttrKind::kStrings},
                      {"coefficients", AttrKind::kFloats, true},
                      {"intercepts", AttrKind::kFloats},
                      {"multi_class", AttrKind::kInt},
                      {"post_transform", AttrKind::kString}},
       .shape = ShapeRule,
       .prepare = Prepare,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
