// SPDX-License-Identifier: Apache-2.0
#include "ops/known_values.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "onnxseq/errors.h"
#include "ops/evaluate.h"
#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {

using onnx_optim::shapes::KnownElements;
using onnx_optim::shapes::KnownFloat;
using onnx_optim::shapes::KnownFloats;

namespace {

constexpr auto kMost = static_cast<int64_t>(ShapeValue::kMaxKnownElements);

// What an operator is to known values. Bit i of `moves`: the elements of input i are handed on as they are.
struct Role {
  std::string_view type;
  uint32_t moves = 0;
  bool open = false;  // how many elements come out only the run tells: never more than go in
};
constexpr uint32_t kFirst = 1, kFirstAndThird = 5, kAll = ~0u;
// By name. All cost at most in proportion to the elements that go in and come out, or to their square.
constexpr Role kRoles[] = {
    {"Abs"},
    {"Add"},
    {"And"},
    {"ArgMax"},
    {"ArgMin"},
    {"BitShift"},
    {"BitwiseAnd"},
    {"BitwiseNot"},
    {"BitwiseOr"},
    {"BitwiseXor"},
    {"Cast"},
    {"Ceil"},
    {"Clip"},
    {"Compress", kFirst, true},
    {"Concat", kAll},
    {"CumProd"},
    {"CumSum"},
    {"Div"},
    {"Equal"},
    {"Exp"},
    {"Expand", kFirst},
    {"Flatten", kFirst},
    {"Floor"},
    {"Gather", kFirst},
    {"GatherElements", kFirst},
    {"GatherND", kFirst},
    {"Greater"},
    {"GreaterOrEqual"},
    {"Identity", kFirst},
    {"Less"},
    {"LessOrEqual"},
    {"Log"},
    {"MatMul"},
    {"Max"},
    {"Mean"},
    {"Min"},
    {"Mod"},
    {"Mul"},
    {"Neg"},
    {"NonZero", 0, true},
    {"Not"},
    {"OneHot"},
    {"Or"},
    {"Pad", kFirstAndThird},
    {"Pow"},
    {"Range"},
    {"Reciprocal"},
    {"ReduceL1"},
    {"ReduceL2"},
    {"ReduceMax"},
    {"ReduceMean"},
    {"ReduceMin"},
    {"ReduceProd"},
    {"ReduceSum"},
    {"ReduceSumSquare"},
    {"Relu"},
    {"Reshape", kFirst},
    {"ReverseSequence", kFirst},
    {"Round"},
    {"Scatter", kFirstAndThird},
    {"ScatterElements", kFirstAndThird},
    {"ScatterND", kFirstAndThird},
    {"Sign"},
    {"Slice", kFirst},
    {"Split", kFirst},
    {"Sqrt"},
    {"Squeeze", kFirst},
    {"Sub"},
    {"Sum"},
    {"Tile", kFirst},
    {"TopK"},
    {"Transpose", kFirst},
    {"Trilu", kFirst},
    {"Unique", 0, true},
    {"Unsqueeze", kFirst},
    {"Where", 6},
    {"Xor"},
};

const Role* RoleOf(std::string_view type) {
  const auto* it = std::ranges::lower_bound(kRoles, type, {}, &Role::type);
  return it != std::end(kRoles) && it->type == type ? it : nullptr;
}

using NumberList =
    TypeList<bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, float, double>;
template <class... T>
constexpr TypeSet SetOf(TypeList<T...>) {
  return {kTensorTypeOf<T>...};
}
constexpr TypeSet kNumbers = SetOf(NumberList());

// How many elements a tensor of this shape has; nothing when that is not known or too many.
std::optional<size_t> CountOf(const OptimShape& shape) {
  if (shape.IsUnknown()) return std::nullopt;
  int64_t count = 1;
  bool none = false;
  for (const OptimDim& d : shape) {
    if (!d.IsInt() || d.AsInt() < 0) return std::nullopt;
    none = none || d == OptimDim(0);
    count = std::min(count, kMost + 1) * std::min(d.AsInt(), kMost + 1);
  }
  if (none) return 0;
  return count <= kMost ? std::optional(static_cast<size_t>(count)) : std::nullopt;
}

Shape ShapeOf(const OptimShape& shape) {
  std::vector<int64_t> dims;
  for (const OptimDim& d : shape) dims.push_back(d.AsInt());
  return Shape(dims);
}

// The tensor whose elements are all known constants; undefined when they are not.
Tensor ConstantTensor(const ShapeValue& value) {
  const std::optional<size_t> count = CountOf(value.Shape());
  if (!count || !kNumbers.Has(value.Dtype())) return {};
  const KnownElements* ints = value.Elements();
  const KnownFloats* floats = value.Floats();
  const bool known =
      ints != nullptr
          ? std::ranges::all_of(*ints, [](const auto& e) { return e && e->IsInt(); })
          : floats != nullptr && std::ranges::all_of(*floats, [](const auto& e) { return e && e->IsConstant(); });
  if (!known) return {};
  Tensor tensor(value.Dtype(), ShapeOf(value.Shape()));
  Dispatch(NumberList(), value.Dtype(), [&]<class T>(std::type_identity<T>) {
    T* to = tensor.MutableView<T>().data();
    for (size_t i = 0; i < *count; ++i) to[i] = static_cast<T>(ints != nullptr ? (*ints)[i]->AsInt() : 0);
    if (ints != nullptr) return;
    for (size_t i = 0; i < *count; ++i) to[i] = static_cast<T>((*floats)[i]->factor);
  });
  return tensor;
}

// What is known of the element at each place; place 0 is the number 0, which operators fill up with.
struct Places {
  KnownElements ints{OptimDim(0)};
  KnownFloats floats{KnownFloat{1, 1, 0}};

  // A tensor of the places of its elements, which are new.
  Tensor Add(const ShapeValue& value, size_t count) {
    Tensor places(TensorType::kInt64, ShapeOf(value.Shape()));
    int64_t* to = places.MutableView<int64_t>().data();
    for (size_t i = 0; i < count; ++i) {
      to[i] = static_cast<int64_t>(ints.size());
      ints.push_back(value.Elements() == nullptr ? std::nullopt : (*value.Elements())[i]);
      floats.push_back(value.Floats() == nullptr ? std::nullopt : (*value.Floats())[i]);
    }
    return places;
  }
};

template <class Elements>
Elements Picked(const Elements& from, const Tensor& places) {
  Elements picked;
  for (const int64_t place : places.View<int64_t>()) picked.push_back(from[static_cast<size_t>(place)]);
  return picked;
}

// What both say, one of the same elements as the other.
template <class Elements>
Elements Both(const Elements* a, Elements b) {
  for (size_t i = 0; a != nullptr && a->size() == b.size() && i < b.size(); ++i)
    if ((*a)[i]) b[i] = (*a)[i];
  return b;
}

bool IsFull(const ShapeValue& value) {
  return value.HasFullValue() || (value.Floats() != nullptr &&
                                  std::ranges::all_of(*value.Floats(), [](const auto& e) { return e.has_value(); }));
}

// Some output is small and lacks elements, and none is beyond reach.
bool LacksElements(const InferScope& scope, const Role& role) {
  bool lacks = false;
  for (int i = 0; i < scope.output_size(); ++i) {
    if (!scope.HasOutput(i)) continue;
    const ShapeValue* output = scope.Output(i);
    if (output == nullptr || !output->IsTensor()) return false;
    if (!role.open && !CountOf(output->Shape())) return false;
    lacks = lacks || !IsFull(*output);
  }
  return lacks;
}

}  // namespace

ShapeValue KnownTensor(const Tensor& tensor) {
  const std::span<const int64_t> dims = tensor.shape().dims();
  OptimShape shape(std::vector<OptimDim>(dims.begin(), dims.end()));
  const ShapeValue known = ShapeValue::Tensor(tensor.dtype(), std::move(shape));
  if (!kNumbers.Has(tensor.dtype()) || tensor.NumElements() > kMost) return known;
  KnownElements ints;
  KnownFloats floats;
  Dispatch(NumberList(), tensor.dtype(), [&]<class T>(std::type_identity<T>) {
    for (const T element : tensor.View<T>()) {
      if constexpr (std::is_floating_point_v<T>) {
        floats.push_back(KnownFloat{1, 1, static_cast<double>(element)});
      } else if (std::is_same_v<T, uint64_t> && static_cast<uint64_t>(element) > static_cast<uint64_t>(INT64_MAX)) {
        ints.emplace_back();
      } else {
        ints.emplace_back(OptimDim(static_cast<int64_t>(element)));
      }
    }
  });
  return kFloatTypes.Has(tensor.dtype()) ? known.WithFloats(std::move(floats)) : known.WithElements(std::move(ints));
}

void PropagateValues(InferScope& scope, const OpDef& op) {
  if (!op.domain.empty() || op.run == nullptr || scope.input_size() == 0) return;
  const Role* role = RoleOf(op.type);
  if (role == nullptr || !LacksElements(scope, *role)) return;
  const std::string reduction = role->moves == kFirstAndThird ? scope.attrs().String("reduction", "none") : "none";
  const uint32_t moves = reduction == "none" ? role->moves : 0;

  // Constants where all are, else places where elements are moved.
  std::vector<Value> constants, inputs;
  Places places;
  bool all_constant = true, some_known = false;
  for (int i = 0; i < scope.input_size(); ++i) {
    constants.emplace_back();
    inputs.emplace_back();
    if (!scope.HasInput(i)) continue;
    const ShapeValue& value = scope.Input(i);
    if (!value.IsTensor()) return;
    const std::optional<size_t> count = CountOf(value.Shape());
    if (!count) return;
    Tensor constant = ConstantTensor(value);
    const bool moved = ((moves >> std::min(i, 31)) & 1u) != 0;
    if (!constant.defined() && !moved) return;
    all_constant = all_constant && constant.defined();
    if (moved) {
      inputs.back() = places.Add(value, *count);
      some_known = some_known || value.Elements() != nullptr || value.Floats() != nullptr;
    } else {
      inputs.back() = constant;
    }
    if (constant.defined()) constants.back() = std::move(constant);
  }
  if (!all_constant && !some_known) return;

  try {
    const std::vector<Value>& used = all_constant ? constants : inputs;
    const std::unique_ptr<OpState> state = PrepareOn(op, scope.node(), scope.opset(), used, false);
    const std::vector<Value> outputs = Evaluate(op, scope.node(), state.get(), used);
    for (int i = 0; i < scope.output_size(); ++i) {
      if (!scope.HasOutput(i) || !outputs[static_cast<size_t>(i)].IsTensor()) continue;
      const ShapeValue& known = *scope.Output(i);
      const Tensor& tensor = outputs[static_cast<size_t>(i)].tensor();
      ShapeValue value = KnownTensor(tensor);
      if (!all_constant) {
        value = ShapeValue::Tensor(known.Dtype(), value.Shape());
        value = kFloatTypes.Has(known.Dtype())
                    ? value.WithFloats(Both(known.Floats(), Picked(places.floats, tensor)))
                    : value.WithElements(Both(known.Elements(), Picked(places.ints, tensor)));
      }
      if (value.Dtype() != known.Dtype() || (!role->open && !SameShape(value.Shape(), known.Shape()))) continue;
      scope.SetOutput(i, std::move(value));
    }
  } catch (const Error&) {
    // A run will say what is wrong.
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
