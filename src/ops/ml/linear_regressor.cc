// SPDX-License-Identifier: Apache-2.0
// LinearRegressor: for each row and target a linear function of the features, transformed.
// https://onnx.ai/onnx/operators/onnx_aionnxml_LinearRegressor.html
#include <fmt/format.h>

#include "ops/ml/ml_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct Model : OpState {
  std::vector<float> coefficients, intercepts;  // [targets, features], [targets]
  int64_t features = 0;
  PostTransform transform;
};

int64_t Targets(const NodeAttributes& attrs) {
  const int64_t targets = attrs.Int("targets", 1);
  if (targets < 1) FailAttribute("targets", fmt::format("is {}, must be at least 1", targets));
  return targets;
}

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  const NodeAttributes attrs = ctx.attrs();
  auto model = std::make_unique<Model>();
  const int64_t targets = Targets(attrs);
  model->coefficients = attrs.Floats("coefficients");
  model->intercepts = attrs.Floats("intercepts");
  model->transform = ReadPostTransform(attrs);
  const auto count = static_cast<int64_t>(model->coefficients.size());
  if (count % targets != 0)
    FailAttribute("coefficients", fmt::format("has {} elements for {} targets", count, targets));
  if (model->intercepts.empty()) model->intercepts.assign(static_cast<size_t>(targets), 0);
  if (static_cast<int64_t>(model->intercepts.size()) != targets)
    FailAttribute("intercepts", fmt::format("has {} elements for {} targets", model->intercepts.size(), targets));
  model->features = count / targets;
  return model;
}

void Run(RunContext& ctx) {
  const Model& model = ctx.state<Model>();
  const MlRows rows = ReadRows(ctx, TensorType::kFloat);
  if (rows.features != model.features)
    ctx.FailInput(0, fmt::format("must be rows of {}, got {}", model.features, ctx.tensor(0).TypeString()));
  const size_t targets = model.intercepts.size();
  Tensor& y = ctx.AllocateOutput(0, TensorType::kFloat, Shape{rows.count, static_cast<int64_t>(targets)});
  float* out = y.MutableView<float>().data();
  const float* row = rows.x.View<float>().data();
  for (int64_t r = 0; r < rows.count; ++r, row += rows.features, out += targets) {
    const float* coefficient = model.coefficients.data();
    for (size_t t = 0; t < targets; ++t) {
      auto sum = static_cast<double>(model.intercepts[t]);
      for (int64_t f = 0; f < rows.features; ++f)
        sum += static_cast<double>(*coefficient++) * static_cast<double>(row[f]);
      out[t] = static_cast<float>(sum);
    }
    Transform(model.transform, std::span<float>(out, targets));
  }
}

void ShapeRule(InferScope& scope) {
  scope.SetTensor(0, TensorType::kFloat, OptimShape{RowsDim(scope), OptimDim(Targets(scope.attrs()))});
}

}  // namespace

std::span<const OpDef> linear_regressor_ops() {
  static const OpDef ops[] = {
      {.domain = "ai.onnx.ml",
       .type = "LinearRegressor",
       .since_version = 1,
       .inputs = {{"X", kMlNumberTypes}},
       .outputs = {{"Y", {TensorType::kFloat}}},
       .attributes = {{"coefficients", AttrKind::kFloats},
                      {"intercepts", AttrKind::kFloats},
                      {"post_transform", AttrKind::kString},
                      {"targets", AttrKind::kInt}},
       .shape = ShapeRule,
       .prepare = Prepare,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
