// SPDX-License-Identifier: Apache-2.0
// LabelEncoder: each element looked up among the keys and replaced by the value of the same place, or the default where
// it is none of them; the last of equal keys counts, and NaN is NaN. Version 1 has texts, whose keys or values are
// their places. https://onnx.ai/onnx/operators/onnx_aionnxml_LabelEncoder.html
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <unordered_map>

#include "kernels/indexed/indexed.h"
#include "onnxseq/errors.h"
#include "ops/op_helpers.h"
#include "ops/type_dispatch.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using KeyList = TypeList<float, double, int16_t, int32_t, int64_t, std::string>;
constexpr TypeSet kTypes = KeyList::kSet;

struct Table : OpState {
  Tensor keys;    // undefined in version 1
  Tensor values;  // one more than there are keys: the default comes last
};

// The list in one of four attributes "keys_strings", "keys_int64s", "keys_floats", "keys_tensor".
Tensor ReadList(const NodeAttributes& attrs, const std::string& prefix) {
  const auto vector = [](const auto& values) {
    using T = std::remove_cvref_t<decltype(values[0])>;
    return Tensor::Of<T>(Shape{static_cast<int64_t>(values.size())}, values);
  };
  if (attrs.Has(prefix + "_strings")) return vector(attrs.Strings(prefix + "_strings"));
  if (attrs.Has(prefix + "_int64s")) return vector(attrs.Ints(prefix + "_int64s"));
  if (attrs.Has(prefix + "_floats")) return vector(attrs.Floats(prefix + "_floats"));
  const TensorProto* tensor = attrs.FindTensor(prefix + "_tensor");
  if (tensor == nullptr) FailAttribute(prefix + "_tensor", "is required, or another of that name");
  Tensor list = TensorFromProto(*tensor);
  if (!kTypes.Has(list.dtype())) FailAttribute(prefix + "_tensor", fmt::format("cannot be {}", list.TypeString()));
  return list;
}

Tensor ReadDefault(const NodeAttributes& attrs, TensorType type) {
  if (const TensorProto* tensor = attrs.FindTensor("default_tensor")) {
    Tensor value = TensorFromProto(*tensor);
    if (value.dtype() != type || value.NumElements() != 1)
      FailAttribute("default_tensor",
                    fmt::format("must be one {}, is {}", onnx_optim::ToTypeString(type), value.TypeString()));
    return value;
  }
  Tensor value(type, Shape{1});
  Dispatch(KeyList(), type, [&]<class T>(std::type_identity<T>) {
    T& element = value.MutableView<T>()[0];
    if constexpr (std::is_same_v<T, std::string>) {
      element = attrs.String("default_string", "_Unused");
    } else if constexpr (std::is_integral_v<T>) {
      element = static_cast<T>(attrs.Int("default_int64", -1));
    } else {
      element = static_cast<T>(attrs.Float("default_float", -0.f));
    }
  });
  return value;
}

Tensor WithDefault(const Tensor& values, const Tensor& otherwise) {
  const int64_t n = values.NumElements();
  Tensor all(values.dtype(), Shape{n + 1});
  const std::vector<int64_t> first = {0}, last = {n};
  if (n > 0)
    kernels::ScatterRows(all.dtype(), kernels::ScatterReduction::kNone, all.mutable_data(), first, n, values.data());
  kernels::FillAt(all.dtype(), all.mutable_data(), last, otherwise.data());
  return all;
}

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  auto table = std::make_unique<Table>();
  table->keys = ReadList(ctx.attrs(), "keys");
  const Tensor values = ReadList(ctx.attrs(), "values");
  if (values.NumElements() != table->keys.NumElements())
    throw InvalidArgument(fmt::format("{} keys for {} values", table->keys.NumElements(), values.NumElements()));
  table->values = WithDefault(values, ReadDefault(ctx.attrs(), values.dtype()));
  return table;
}

// Places in the values: that of the key, or the last one.
template <class T>
std::vector<int64_t> Places(const Tensor& x, const Tensor& keys) {
  std::unordered_map<T, int64_t> place_of;
  const int64_t none = keys.NumElements();
  int64_t place = 0, nan_place = none;
  for (const T& key : keys.View<T>()) {
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(key)) nan_place = place;
    place_of[key] = place++;
  }
  std::vector<int64_t> places;
  for (const T& element : x.View<T>()) {
    const auto it = place_of.find(element);
    bool is_nan = false;
    if constexpr (std::is_floating_point_v<T>) is_nan = std::isnan(element);
    places.push_back(is_nan ? nan_place : it == place_of.end() ? none : it->second);
  }
  return places;
}

void LookUp(RunContext& ctx, const Tensor& keys, const Tensor& values) {
  const Tensor x = ctx.tensor(0);
  if (x.dtype() != keys.dtype())
    ctx.FailInput(0, fmt::format("must be of the type of the keys, {}, got {}", onnx_optim::ToTypeString(keys.dtype()),
                                 x.TypeString()));
  Tensor& y = ctx.AllocateOutput(0, values.dtype(), x.shape());
  Dispatch(KeyList(), x.dtype(), [&]<class T>(std::type_identity<T>) {
    kernels::GatherRows(y.dtype(), values.data(), Places<T>(x, keys), 1, y.mutable_data());
  });
}

void Run(RunContext& ctx) { LookUp(ctx, ctx.state<Table>().keys, ctx.state<Table>().values); }

// Texts to places, or places to texts.
void RunFirst(RunContext& ctx) {
  const std::vector<std::string> classes = ctx.attrs().Strings("classes_strings");
  const auto n = static_cast<int64_t>(classes.size());
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < n; ++i) numbers.push_back(i);
  const Tensor texts = Tensor::Of<std::string>(Shape{n}, classes), places = Tensor::Of<int64_t>(Shape{n}, numbers);
  if (ctx.tensor(0).dtype() == TensorType::kString) {
    LookUp(ctx, texts, WithDefault(places, ReadDefault(ctx.attrs(), TensorType::kInt64)));
  } else {
    LookUp(ctx, places, WithDefault(texts, ReadDefault(ctx.attrs(), TensorType::kString)));
  }
}

void ShapeRule(InferScope& scope) {
  const NodeAttributes attrs = scope.attrs();
  TensorType type = TensorType::kUndefined;
  if (attrs.Has("values_strings")) type = TensorType::kString;
  if (attrs.Has("values_int64s")) type = TensorType::kInt64;
  if (attrs.Has("values_floats")) type = TensorType::kFloat;
  if (const TensorProto* values = attrs.FindTensor("values_tensor"))
    type = onnx_optim::DataTypeToTensorType(values->data_type());
  scope.SetTensor(0, type, scope.InputShape(0));
}

void FirstShape(InferScope& scope) {
  const TensorType x = scope.InputType(0);
  scope.SetTensor(0,
                  x == TensorType::kUndefined ? x
                  : x == TensorType::kString  ? TensorType::kInt64
                                              : TensorType::kString,
                  scope.InputShape(0));
}

OpDef VersionOf(int since, TypeSet types, std::vector<AttrDef> attributes) {
  return {.domain = "ai.onnx.ml",
          .type = "LabelEncoder",
          .since_version = since,
          .inputs = {{"X", types, "T1"}},
          .outputs = {{"Y", types, "T2"}},
          .attributes = std::move(attributes),
          .shape = ShapeRule,
          .prepare = Prepare,
          .run = Run};
}
std::vector<AttrDef> Lists(std::vector<AttrDef> more) {
  more.insert(more.end(), {{"default_float", AttrKind::kFloat},
                           {"default_int64", AttrKind::kInt},
                           {"default_string", AttrKind::kString},
                           {"keys_floats", AttrKind::kFloats},
                           {"keys_int64s", AttrKind::kInts},
                           {"keys_strings", AttrKind::kStrings},
                           {"values_floats", AttrKind::kFloats},
                           {"values_int64s", AttrKind::kInts},
                           {"values_strings", AttrKind::kStrings}});
  return more;
}
constexpr TypeSet kTextOrInt{TensorType::kString, TensorType::kInt64};

}  // namespace

std::span<const OpDef> label_encoder_ops() {
  static const OpDef ops[] = {
      {.domain = "ai.onnx.ml",
       .type = "LabelEncoder",
       .since_version = 1,
       .inputs = {{"X", kTextOrInt, "T1"}},
       .outputs = {{"Y", kTextOrInt, "T2"}},
       .attributes = {{"classes_strings", AttrKind::kStrings},
                      {"default_int64", AttrKind::kInt},
                      {"default_string", AttrKind::kString}},
       .shape = FirstShape,
       .run = RunFirst},
      VersionOf(2, kTextOrInt | TypeSet{TensorType::kFloat}, Lists({})),
      VersionOf(4, kTypes,
                Lists({{"default_tensor", AttrKind::kTensor},
                       {"keys_tensor", AttrKind::kTensor},
                       {"values_tensor", AttrKind::kTensor}})),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
