// SPDX-License-Identifier: Apache-2.0
// ZipMap: each row of scores as a map from the labels to them. A vector is one row. The maps share their keys, and the
// scores are not copied. https://onnx.ai/onnx/operators/onnx_aionnxml_ZipMap.html
#include <fmt/format.h>

#include "ops/ml/ml_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr std::string_view kInts = "classlabels_int64s", kStrings = "classlabels_strings";

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  return std::make_unique<LabelPlaces>(ReadLabels(ctx.attrs(), kInts, kStrings));
}

void Run(RunContext& ctx) {
  const Map& places = ctx.state<LabelPlaces>().places;
  const MlRows rows = ReadRows(ctx, TensorType::kFloat);
  if (rows.features != places.size())
    ctx.FailInput(
        0, fmt::format("must have a column for each of {} labels, got {}", places.size(), ctx.tensor(0).TypeString()));
  std::vector<int64_t> columns;
  for (const Tensor& column : places.values().elements()) columns.push_back(column.View<int64_t>()[0]);
  std::vector<Value> maps;
  maps.reserve(static_cast<size_t>(rows.count));
  for (int64_t r = 0; r < rows.count; ++r) {
    std::vector<Tensor> scores;
    scores.reserve(columns.size());
    for (const int64_t column : columns) scores.push_back(rows.x.Part(r * rows.features + column, Shape{}));
    maps.emplace_back(places.WithValues(Sequence(TensorType::kFloat, std::move(scores))));
  }
  ctx.SetOutput(0, Sequence::OfValues(std::move(maps)));
}

void ShapeRule(InferScope& scope) {
  const TensorType key = LabelType(scope.attrs(), kStrings);
  scope.SetOutput(0, ShapeValue::Sequence(onnx_optim::shapes::SequenceInfo::Summary(
                         RowsDim(scope), ShapeValue::Map(key, ShapeValue::Tensor(TensorType::kFloat, OptimShape())))));
}

}  // namespace

std::span<const OpDef> zip_map_ops() {
  static const OpDef ops[] = {
      {.domain = "ai.onnx.ml",
       .type = "ZipMap",
       .since_version = 1,
       .inputs = {{"X", {TensorType::kFloat}}},
       .outputs = {{"Z", {TensorType::kFloat}, {}, FormalKind::kSequenceOfMaps}},
       .attributes = {{kInts, AttrKind::kInts}, {kStrings, AttrKind::kStrings}},
       .shape = ShapeRule,
       .prepare = Prepare,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
