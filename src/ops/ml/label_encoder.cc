// SPDX-License-Identifier: Apache-2.0
// LabelEncoder: each element looked up among the keys and replaced by the value of the same place, or the default where
// it is none of them; the last of equal keys counts, and NaN is NaN. Version 1 has texts, whose keys or values are
// their places. https://onnx.ai/onnx/operators/onnx_aionnxml_LabelEncoder.html
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/indexed/indexed.h"
#include "onnxseq/errors.h"
#include "ops/op_helpers.h"
#include "ops/type_dispatch.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using KeyList = TypeList<float, double, int16_t, int32_t, int64_t, std::string>;
constexpr TypeSet kTypes = KeyList::kSet;

// Where keys stand: the last of equal ones.
template <class T>
class Places {
 public:
  explicit Places(const Tensor& keys) : none_(keys.NumElements()), nan_(none_) {
    int64_t place = 0;
    for (const T& key : keys.View<T>()) {
      if (IsNan(key)) nan_ = place;
      places_[key] = place++;
    }
  }
  // The number of keys for none of them.
  int64_t Of(const T& element) const {
    if (IsNan(element)) return nan_;
    const auto it = places_.find(element);
    return it == places_.end() ? none_ : it->second;
  }

 private:
  static bool IsNan(const T& key) {
    if constexpr (std::is_floating_point_v<T>) return std::isnan(key);
    return false;
  }
  int64_t none_, nan_;
  std::unordered_map<T, int64_t> places_;
};

template <class>
struct PlacesOf;
template <class... T>
struct PlacesOf<TypeList<T...>> {
  using Any = std::variant<Places<T>...>;
};

struct Table {
  TensorType type;  // of the keys
  PlacesOf<KeyList>::Any places;
  Tensor values;  // one more than there are keys: the default comes last
};

struct Tables : OpState {
  std::vector<Table> tables;  // two in version 1, one for each direction
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

Table MakeTable(const Tensor& keys, const Tensor& values, const Tensor& otherwise) {
  std::optional<PlacesOf<KeyList>::Any> places;
  Dispatch(KeyList(), keys.dtype(), [&]<class T>(std::type_identity<T>) { places.emplace(Places<T>(keys)); });
  return {keys.dtype(), std::move(*places), WithDefault(values, otherwise)};
}

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  const Tensor keys = ReadList(ctx.attrs(), "keys"), values = ReadList(ctx.attrs(), "values");
  if (values.NumElements() != keys.NumElements())
    throw InvalidArgument(fmt::format("{} keys for {} values", keys.NumElements(), values.NumElements()));
  auto state = std::make_unique<Tables>();
  state->tables.push_back(MakeTable(keys, values, ReadDefault(ctx.attrs(), values.dtype())));
  return state;
}

// Texts to places, and places to texts.
std::unique_ptr<OpState> PrepareFirst(const PrepareContext& ctx) {
  const std::vector<std::string> classes = ctx.attrs().Strings("classes_strings");
  const auto n = static_cast<int64_t>(classes.size());
  std::vector<int64_t> numbers(classes.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  const Tensor texts = Tensor::Of<std::string>(Shape{n}, classes), places = Tensor::Of<int64_t>(Shape{n}, numbers);
  auto state = std::make_unique<Tables>();
  for (const auto& [keys, values] : {std::pair(texts, places), std::pair(places, texts)})
    state->tables.push_back(MakeTable(keys, values, ReadDefault(ctx.attrs(), values.dtype())));
  return state;
}

void Run(RunContext& ctx) {
  const std::vector<Table>& tables = ctx.state<Tables>().tables;
  const Tensor x = ctx.tensor(0);
  const auto table = std::ranges::find(tables, x.dtype(), &Table::type);
  if (table == tables.end())
    ctx.FailInput(0, fmt::format("must be of the type of the keys, {}, got {}",
                                 onnx_optim::ToTypeString(tables.front().type), x.TypeString()));
  std::vector<int64_t> places;
  places.reserve(static_cast<size_t>(x.NumElements()));
  std::visit(
      [&]<class T>(const Places<T>& found) {
        for (const T& element : x.View<T>()) places.push_back(found.Of(element));
      },
      table->places);
  Tensor& y = ctx.AllocateOutput(0, table->values.dtype(), x.shape());
  kernels::GatherRows(y.dtype(), table->values.data(), places, 1, y.mutable_data());
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
       .prepare = PrepareFirst,
       .run = Run},
      VersionOf(2, kTextOrInt | TypeSet{TensorType::kFloat}, Lists({})),
      VersionOf(4, kTypes,
                Lists({{"default_tensor", AttrKind::kTensor},
                       {"keys_tensor", AttrKind::kTensor},
                       {"values_tensor", AttrKind::kTensor}})),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
