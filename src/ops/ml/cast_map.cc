// SPDX-License-Identifier: Apache-2.0
// CastMap: the values of a map as a matrix of one row: all of them in ascending order of the keys (DENSE), or each in
// the column its key names, of max_map columns, 0 (or "") in the others (SPARSE). Values become strings, float or
// int64 as Cast would make them. The row is what onnxruntime gives; the specification names no shape.
// https://onnx.ai/onnx/operators/onnx_aionnxml_CastMap.html
#include <fmt/format.h>

#include <algorithm>

#include "kernels/cast/cast.h"
#include "kernels/indexed/indexed.h"
#include "ops/ml/ml_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct Form {
  TensorType type;
  bool sparse;
  int64_t columns;  // when sparse
};

Form ReadForm(const NodeAttributes& attrs) {
  const std::string to = attrs.String("cast_to", "TO_FLOAT"), form = attrs.String("map_form", "DENSE");
  if (to != "TO_FLOAT" && to != "TO_STRING" && to != "TO_INT64")
    FailAttribute("cast_to", fmt::format("is \"{}\", must be TO_FLOAT, TO_STRING or TO_INT64", to));
  if (form != "DENSE" && form != "SPARSE")
    FailAttribute("map_form", fmt::format("is \"{}\", must be DENSE or SPARSE", form));
  const int64_t columns = attrs.Int("max_map", 1);
  if (form == "SPARSE" && columns < 1) FailAttribute("max_map", fmt::format("is {}, must be at least 1", columns));
  return {to == "TO_FLOAT"    ? TensorType::kFloat
          : to == "TO_STRING" ? TensorType::kString
                              : TensorType::kInt64,
          form == "SPARSE", columns};
}

Tensor Converted(const RunContext& ctx, const Tensor& values, TensorType to) {
  if (values.dtype() == to) return values;
  if (values.dtype() != TensorType::kString && to != TensorType::kString) return AsType(values, to);
  Tensor converted(to, values.shape());
  const int64_t n = values.NumElements();
  if (to == TensorType::kString) {
    kernels::CastToString(values.data(), values.dtype(), converted.MutableView<std::string>().data(), n);
    return converted;
  }
  const std::span<const std::string> texts = values.View<std::string>();
  const int64_t done = kernels::CastFromString(texts.data(), converted.mutable_data(), to, n);
  if (done < n) ctx.FailInput(0, fmt::format("has value \"{}\", which is no number", texts[static_cast<size_t>(done)]));
  return converted;
}

void Run(RunContext& ctx) {
  const Form form = ReadForm(ctx.attrs());
  const Map& map = ctx.input(0).map();
  if (map.key_type() != TensorType::kInt64)
    ctx.FailInput(0, fmt::format("must have keys of int64, got {}", map.TypeString()));
  Tensor values(map.values().dtype(), Shape{map.size()});
  for (int64_t i = 0; i < map.size(); ++i) {
    const Tensor& value = map.values()[i];
    if (value.NumElements() != 1)
      ctx.FailInput(0, fmt::format("must have values of one element, got {}", value.TypeString()));
    const int64_t place[] = {i};
    kernels::FillAt(values.dtype(), values.mutable_data(), place, value.data());
  }
  values = Converted(ctx, values, form.type);
  if (!form.sparse) {
    ctx.SetOutput(0, values.WithShape(Shape{1, map.size()}));
    return;
  }
  const std::span<const int64_t> keys = map.keys().View<int64_t>();
  for (const int64_t key : keys)
    if (key < 0 || key >= form.columns)
      ctx.FailInput(0, fmt::format("has key {}, expected 0 to {}", key, form.columns - 1));
  Tensor& y = ctx.AllocateOutput(0, form.type, Shape{1, form.columns});
  if (form.type == TensorType::kFloat) std::ranges::fill(y.MutableView<float>(), 0.f);
  if (form.type == TensorType::kInt64) std::ranges::fill(y.MutableView<int64_t>(), 0);
  if (!keys.empty())
    kernels::ScatterRows(y.dtype(), kernels::ScatterReduction::kNone, y.mutable_data(), keys, 1, values.data());
}

void ShapeRule(InferScope& scope) {
  const Form form = ReadForm(scope.attrs());
  scope.SetTensor(0, form.type, OptimShape{OptimDim(1), form.sparse ? OptimDim(form.columns) : scope.Fresh()});
}

constexpr TypeSet kResults{TensorType::kString, TensorType::kFloat, TensorType::kInt64};

}  // namespace

std::span<const OpDef> cast_map_ops() {
  static const OpDef ops[] = {
      {.domain = "ai.onnx.ml",
       .type = "CastMap",
       .since_version = 1,
       .inputs = {{"X", {TensorType::kString, TensorType::kFloat}, {}, FormalKind::kMap}},
       .outputs = {{"Y", kResults}},
       .attributes = {{"cast_to", AttrKind::kString}, {"map_form", AttrKind::kString}, {"max_map", AttrKind::kInt}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
