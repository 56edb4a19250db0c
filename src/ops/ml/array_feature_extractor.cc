// SPDX-License-Identifier: Apache-2.0
// ArrayFeatureExtractor: the places along the last axis that the indices name, in their order; a vector gives a matrix
// of one row. https://onnx.ai/onnx/operators/onnx_aionnxml_ArrayFeatureExtractor.html
#include <fmt/format.h>

#include "kernels/indexed/indexed.h"
#include "ops/ml/ml_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  const std::span<const int64_t> indices = ctx.tensor(1).View<int64_t>();
  if (x.rank() == 0) ctx.FailInput(0, fmt::format("must have a last axis, got {}", x.TypeString()));
  const int64_t features = x.dim(x.rank() - 1);
  for (const int64_t index : indices)
    if (index < 0 || index >= features)
      ctx.FailInput(1, fmt::format("has index {}, expected 0 to {}", index, features - 1));
  const int64_t rows = DimsProduct(x.shape().dims(), 0, x.rank() - 1);
  std::vector<int64_t> places;
  places.reserve(static_cast<size_t>(rows) * indices.size());
  for (int64_t r = 0; r < rows; ++r)
    for (const int64_t index : indices) places.push_back(r * features + index);
  Shape shape = x.shape();
  shape.erase(x.rank() - 1);
  if (x.rank() == 1) shape.push_back(1);
  shape.push_back(static_cast<int64_t>(indices.size()));
  Tensor& z = ctx.AllocateOutput(0, x.dtype(), std::move(shape));
  if (!places.empty()) kernels::GatherRows(z.dtype(), x.data(), places, 1, z.mutable_data());
}

void ShapeRule(InferScope& scope) {
  const OptimShape& x = scope.InputShape(0);
  if (x.IsUnknown() || x.Rank() == 0) return scope.SetTensor(0, scope.InputType(0), OptimShape::Unknown());
  std::vector<OptimDim> dims(x.begin(), x.end() - 1);
  if (dims.empty()) dims.emplace_back(1);
  const auto count = scope.InputShape(1).SymbolicNumElements();
  dims.push_back(count ? *count : scope.Fresh());
  scope.SetTensor(0, scope.InputType(0), OptimShape(std::move(dims)));
}

constexpr TypeSet kTypes = kMlNumberTypes | TypeSet{TensorType::kString};

}  // namespace

std::span<const OpDef> array_feature_extractor_ops() {
  static const OpDef ops[] = {
      {.domain = "ai.onnx.ml",
       .type = "ArrayFeatureExtractor",
       .since_version = 1,
       .inputs = {{"X", kTypes, "T"}, {"Y", {TensorType::kInt64}}},
       .outputs = {{"Z", kTypes, "T"}},
       .attributes = {},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
