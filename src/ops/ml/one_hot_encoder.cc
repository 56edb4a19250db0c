// SPDX-License-Identifier: Apache-2.0
// OneHotEncoder: each element becomes a row as long as the categories, 1 where its category is and 0 elsewhere; an
// element that is none gives zeros, or an error with zeros = 0. Numbers are cast to int64 first.
// https://onnx.ai/onnx/operators/onnx_aionnxml_OneHotEncoder.html
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "ops/ml/ml_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr std::string_view kInts = "cats_int64s", kStrings = "cats_strings";

struct Categories : OpState {
  Tensor values;
};

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  auto state = std::make_unique<Categories>();
  state->values = ReadLabels(ctx.attrs(), kInts, kStrings);
  return state;
}

template <class T>
void Encode(RunContext& ctx, const Tensor& x, const Tensor& categories, float* row) {
  const bool strict = ctx.attrs().Int("zeros", 1) == 0;
  std::unordered_map<T, int64_t> place_of;
  for (const T& category : categories.View<T>()) place_of.try_emplace(category, static_cast<int64_t>(place_of.size()));
  for (const T& element : x.View<T>()) {
    const auto found = place_of.find(element);
    if (found != place_of.end()) {
      row[found->second] = 1;
    } else if (strict) {
      ctx.FailInput(0, fmt::format("has {}, which is no category", element));
    }
    row += categories.NumElements();
  }
}

void Run(RunContext& ctx) {
  const Tensor& categories = ctx.state<Categories>().values;
  const Tensor& given = ctx.tensor(0);
  const bool text = categories.dtype() == TensorType::kString;
  if (text != (given.dtype() == TensorType::kString))
    ctx.FailInput(0, fmt::format("must be of the kind of the categories, {}, got {}",
                                 onnx_optim::TensorTypeName(categories.dtype()), given.TypeString()));
  const Tensor x = AsType(given, categories.dtype());
  Shape shape = x.shape();
  shape.push_back(categories.NumElements());
  Tensor& y = ctx.AllocateOutput(0, TensorType::kFloat, std::move(shape));
  std::ranges::fill(y.MutableView<float>(), 0.f);
  if (text) {
    Encode<std::string>(ctx, x, categories, y.MutableView<float>().data());
  } else {
    Encode<int64_t>(ctx, x, categories, y.MutableView<float>().data());
  }
}

void ShapeRule(InferScope& scope) {
  OptimShape shape = scope.InputShape(0);
  if (!shape.IsUnknown()) {
    std::vector<OptimDim> dims(shape.begin(), shape.end());
    dims.emplace_back(CountLabels(scope.attrs(), kInts, kStrings));
    shape = OptimShape(std::move(dims));
  }
  scope.SetTensor(0, TensorType::kFloat, std::move(shape));
}

constexpr TypeSet kTypes = kMlNumberTypes | TypeSet{TensorType::kString};

}  // namespace

std::span<const OpDef> one_hot_encoder_ops() {
  static const OpDef ops[] = {
      {.domain = "ai.onnx.ml",
       .type = "OneHotEncoder",
       .since_version = 1,
       .inputs = {{"X", kTypes}},
       .outputs = {{"Y", {TensorType::kFloat}}},
       .attributes = {{kInts, AttrKind::kInts}, {kStrings, AttrKind::kStrings}, {"zeros", AttrKind::kInt}},
       .shape = ShapeRule,
       .prepare = Prepare,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
