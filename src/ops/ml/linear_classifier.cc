// SPDX-License-Identifier: Apache-2.0
// LinearClassifier: for each row the scores of the classes, a linear function each, and the label of the greatest; the
// scores are given as they are, or by softmax or the logistic function. One score for two labels, SOFTMAX_ZERO and
// PROBIT are not supported. https://onnx.ai/onnx/operators/onnx_aionnxml_LinearClassifier.html
#include <fmt/format.h>

#include <algorithm>

#include "kernels/activation/activation.h"
#include "kernels/indexed/indexed.h"
#include "kernels/softmax/softmax.h"
#include "onnxseq/errors.h"
#include "ops/as_type.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct Model : OpState {
  std::vector<float> coefficients, intercepts;
  Tensor labels;
  std::string transform;
};

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  const NodeAttributes attrs = ctx.attrs();
  auto model = std::make_unique<Model>();
  model->coefficients = attrs.Floats("coefficients");
  model->intercepts = attrs.Floats("intercepts");
  const auto vector = [](const auto& values) {
    using T = std::remove_cvref_t<decltype(values[0])>;
    return Tensor::Of<T>(Shape{static_cast<int64_t>(values.size())}, values);
  };
  model->labels = attrs.Has("classlabels_strings") ? vector(attrs.Strings("classlabels_strings"))
                                                   : vector(attrs.Ints("classlabels_ints"));
  model->transform = attrs.String("post_transform", "NONE");
  const auto classes = static_cast<size_t>(model->labels.NumElements());
  const auto refuse = [](std::string subject, std::string fact) {
    throw Unsupported(std::move(fact),
                      ErrorWhere{.op_type = {}, .node_name = {}, .subject = std::move(subject), .path = {}});
  };
  if (model->transform != "NONE" && model->transform != "SOFTMAX" && model->transform != "LOGISTIC")
    refuse("attribute 'post_transform'", fmt::format("\"{}\" is not supported", model->transform));
  if (model->intercepts.empty()) model->intercepts.resize(classes);
  if (classes == 2 && model->intercepts.size() == 1) refuse({}, "one score for two labels is not supported");
  if (classes == 0 || model->intercepts.size() != classes || model->coefficients.size() % classes != 0)
    throw InvalidArgument(fmt::format("{} labels, {} coefficients and {} intercepts do not go together", classes,
                                      model->coefficients.size(), model->intercepts.size()));
  return model;
}

void Run(RunContext& ctx) {
  const Model& model = ctx.state<Model>();
  const Tensor x = AsType(ctx.tensor(0), TensorType::kFloat);
  const auto classes = static_cast<int64_t>(model.intercepts.size());
  const int64_t features = static_cast<int64_t>(model.coefficients.size()) / classes;
  if ((x.rank() != 1 && x.rank() != 2) || x.dim(x.rank() - 1) != features)
    ctx.FailInput(0, fmt::format("must be rows of {}, got {}", features, ctx.tensor(0).TypeString()));
  const int64_t rows = x.rank() == 1 ? 1 : x.dim(0);
  Tensor scores(TensorType::kFloat, Shape{rows, classes});
  float* const z = scores.MutableView<float>().data();
  std::vector<int64_t> best;
  const float* row = x.View<float>().data();
  for (int64_t r = 0; r < rows; ++r, row += features) {
    for (int64_t c = 0; c < classes; ++c) {
      double sum = static_cast<double>(model.intercepts[static_cast<size_t>(c)]);
      for (int64_t f = 0; f < features; ++f)
        sum += static_cast<double>(model.coefficients[static_cast<size_t>(c * features + f)]) *
               static_cast<double>(row[f]);
      z[r * classes + c] = static_cast<float>(sum);
    }
    best.push_back(std::max_element(z + r * classes, z + (r + 1) * classes) - (z + r * classes));
  }
  if (model.transform == "SOFTMAX") kernels::Softmax(z, z, rows, classes, 1, false);
  if (model.transform == "LOGISTIC")
    kernels::ApplyActivation(kernels::Activation::Default(kernels::ActivationKind::kSigmoid), rows * classes, z, z);
  Tensor& labels = ctx.AllocateOutput(0, model.labels.dtype(), Shape{rows});
  kernels::GatherRows(labels.dtype(), model.labels.data(), best, 1, labels.mutable_data());
  ctx.SetOutput(1, std::move(scores));
}

void ShapeRule(InferScope& scope) {
  const bool text = scope.attrs().Has("classlabels_strings");
  const auto classes = static_cast<int64_t>(text ? scope.attrs().Strings("classlabels_strings").size()
                                                 : scope.attrs().Ints("classlabels_ints").size());
  const OptimShape& x = scope.InputShape(0);
  const OptimDim rows = x.IsUnknown() ? scope.Fresh() : x.Rank() == 2 ? x[0] : OptimDim(1);
  scope.SetTensor(0, text ? TensorType::kString : TensorType::kInt64, OptimShape{rows});
  scope.SetTensor(1, TensorType::kFloat, OptimShape{rows, OptimDim(classes)});
}

constexpr TypeSet kTypes{TensorType::kFloat, TensorType::kDouble, TensorType::kInt64, TensorType::kInt32};
constexpr TypeSet kLabelTypes{TensorType::kString, TensorType::kInt64};

}  // namespace

std::span<const OpDef> linear_classifier_ops() {
  static const OpDef ops[] = {
      {.domain = "ai.onnx.ml",
       .type = "LinearClassifier",
       .since_version = 1,
       .inputs = {{"X", kTypes, "T1"}},
       .outputs = {{"Y", kLabelTypes, "T2"}, {"Z", {TensorType::kFloat}}},
       .attributes = {{"classlabels_ints", AttrKind::kInts},
                      {"classlabels_strings", AttrKind::kStrings},
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
