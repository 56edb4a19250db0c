// SPDX-License-Identifier: Apache-2.0
// FeatureVectorizer: matrices beside each other as float, a vector being one row, each cut or filled up with zeros to
// the width inputdimensions gives it (its own when that is absent).
// https://onnx.ai/onnx/operators/onnx_aionnxml_FeatureVectorizer.html
#include <fmt/format.h>

#include <algorithm>

#include "ops/ml/ml_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// The width each input takes up.
std::vector<int64_t> Widths(const NodeAttributes& attrs, size_t inputs) {
  std::vector<int64_t> widths = attrs.Ints("inputdimensions");
  if (!widths.empty() && widths.size() != inputs)
    FailAttribute("inputdimensions", fmt::format("has {} elements for {} inputs", widths.size(), inputs));
  for (const int64_t width : widths)
    if (width < 0) FailAttribute("inputdimensions", fmt::format("has {}, must not be negative", width));
  return widths;
}

void Run(RunContext& ctx) {
  const int inputs = ctx.input_size();
  std::vector<int64_t> widths = Widths(ctx.attrs(), static_cast<size_t>(inputs));
  const bool own = widths.empty();
  int64_t rows = 0, width = 0;
  for (int i = 0; i < inputs; ++i) {
    const Tensor& x = ctx.tensor(i);
    if (x.rank() != 1 && x.rank() != 2) ctx.FailInput(i, fmt::format("must have rank 1 or 2, got {}", x.TypeString()));
    const int64_t here = x.rank() == 1 ? 1 : x.dim(0);
    if (i == 0) rows = here;
    if (here != rows)
      ctx.FailInput(i, fmt::format("must have {} rows, as {}, got {}", rows, ctx.InputSubject(0), x.TypeString()));
    if (own) widths.push_back(x.dim(x.rank() - 1));
    width += widths[static_cast<size_t>(i)];
  }
  Tensor& y = ctx.AllocateOutput(0, TensorType::kFloat, Shape{rows, width});
  const std::span<float> out = y.MutableView<float>();
  std::ranges::fill(out, 0.f);
  int64_t column = 0;
  for (int i = 0; i < inputs; ++i) {
    const Tensor x = AsType(ctx.tensor(i), TensorType::kFloat);
    const int64_t has = x.dim(x.rank() - 1), takes = widths[static_cast<size_t>(i)];
    const float* from = x.View<float>().data();
    for (int64_t r = 0; r < rows; ++r)
      std::copy_n(from + r * has, std::min(has, takes), out.begin() + r * width + column);
    column += takes;
  }
}

void ShapeRule(InferScope& scope) {
  const std::vector<int64_t> widths = Widths(scope.attrs(), static_cast<size_t>(scope.input_size()));
  OptimDim width(0);
  for (const int64_t w : widths) width = width + OptimDim(w);
  for (int i = 0; widths.empty() && i < scope.input_size(); ++i) {
    const OptimShape& x = scope.InputShape(i);
    width = width + (x.IsUnknown() || x.Rank() == 0 ? scope.Fresh() : x[x.Rank() - 1]);
  }
  scope.SetTensor(0, TensorType::kFloat, OptimShape{RowsDim(scope), width});
}

}  // namespace

std::span<const OpDef> feature_vectorizer_ops() {
  static const OpDef ops[] = {
      {.domain = "ai.onnx.ml",
       .type = "FeatureVectorizer",
       .since_version = 1,
       .inputs = {{"X", kMlNumberTypes, "T1", FormalKind::kTensor, FormalCount::kVariadic}},
       .outputs = {{"Y", {TensorType::kFloat}}},
       .attributes = {{"inputdimensions", AttrKind::kInts}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
