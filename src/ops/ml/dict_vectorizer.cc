// SPDX-License-Identifier: Apache-2.0
// DictVectorizer: the values of a map in the order of a vocabulary, 0 (or "") for words the map does not have. A key
// that is no word is an error, as the specification says. The result is a vector, which the text of the specification
// asks for; onnxruntime gives it a leading dim of 1. https://onnx.ai/onnx/operators/onnx_aionnxml_DictVectorizer.html
#include <fmt/format.h>

#include <algorithm>

#include "ops/ml/ml_op.h"
#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr std::string_view kInts = "int64_vocabulary", kStrings = "string_vocabulary";
using ValueList = TypeList<float, double, int64_t, std::string>;

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  return std::make_unique<LabelPlaces>(ReadLabels(ctx.attrs(), kInts, kStrings));
}

// The place of each key of the map.
template <class K>
std::vector<int64_t> Places(const RunContext& ctx, const Map& map, const Map& vocabulary) {
  const std::span<const K> words = vocabulary.keys().View<K>();
  std::vector<int64_t> places;
  for (const K& key : map.keys().View<K>()) {
    const auto word = std::ranges::lower_bound(words, key);
    if (word == words.end() || *word != key) ctx.FailInput(0, fmt::format("has key {}, which is no word", key));
    const Tensor& place = vocabulary.values()[word - words.begin()];
    places.push_back(place.View<int64_t>()[0]);
  }
  return places;
}

void Run(RunContext& ctx) {
  const Map& vocabulary = ctx.state<LabelPlaces>().places;
  const Map& map = ctx.input(0).map();
  if (map.key_type() != vocabulary.key_type())
    ctx.FailInput(0, fmt::format("must have keys of the type of the vocabulary, {}, got {}",
                                 onnx_optim::TensorTypeName(vocabulary.key_type()), map.TypeString()));
  const std::vector<int64_t> places = map.key_type() == TensorType::kString ? Places<std::string>(ctx, map, vocabulary)
                                                                            : Places<int64_t>(ctx, map, vocabulary);
  Tensor& y = ctx.AllocateOutput(0, map.values().dtype(), Shape{vocabulary.size()});
  Dispatch(ValueList(), y.dtype(), [&]<class T>(std::type_identity<T>) {
    const std::span<T> out = y.MutableView<T>();
    std::ranges::fill(out, T());
    for (int64_t i = 0; i < map.size(); ++i) {
      const Tensor& value = map.values()[i];
      if (value.NumElements() != 1)
        ctx.FailInput(0, fmt::format("must have values of one element, got {}", value.TypeString()));
      out[static_cast<size_t>(places[static_cast<size_t>(i)])] = value.View<T>()[0];
    }
  });
}

void ShapeRule(InferScope& scope) {
  const ShapeValue& map = scope.Input(0);
  scope.SetTensor(0, map.IsMap() ? map.Elem().Dtype() : TensorType::kUndefined,
                  OptimShape{OptimDim(CountLabels(scope.attrs(), kInts, kStrings))});
}

}  // namespace

std::span<const OpDef> dict_vectorizer_ops() {
  static const OpDef ops[] = {
      {.domain = "ai.onnx.ml",
       .type = "DictVectorizer",
       .since_version = 1,
       .inputs = {{"X", ValueList::kSet, {}, FormalKind::kMap}},
       .outputs = {{"Y", ValueList::kSet}},
       .attributes = {{kInts, AttrKind::kInts}, {kStrings, AttrKind::kStrings}},
       .shape = ShapeRule,
       .prepare = Prepare,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
