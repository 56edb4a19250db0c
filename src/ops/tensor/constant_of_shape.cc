// SPDX-License-Identifier: Apache-2.0
// ConstantOfShape: a tensor of the given dims, every element the one in `value` (float 0 without it).
// https://onnx.ai/onnx/operators/onnx__ConstantOfShape.html
#include <fmt/format.h>

#include <algorithm>

#include "ops/known_values.h"
#include "ops/op_helpers.h"
#include "ops/type_dispatch.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr TypeSet kTypes = kNumericTypes | kNarrowTypes | kBoolType;

struct FillState : OpState {
  Tensor value;
};

Tensor ValueOf(const NodeAttributes& attrs) {
  const TensorProto* value = attrs.FindTensor("value");
  return value == nullptr ? Tensor::Scalar<float>(0) : TensorFromProto(*value);
}

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  auto state = std::make_unique<FillState>();
  state->value = ValueOf(ctx.attrs());
  const auto fail = [](std::string fact) { FailAttribute("value", std::move(fact)); };
  if (state->value.NumElements() != 1) fail(fmt::format("must have one element, got {}", state->value.TypeString()));
  if (!kTypes.Has(state->value.dtype())) fail(fmt::format("cannot be {}", state->value.TypeString()));
  return state;
}

void Run(RunContext& ctx) {
  const Tensor& value = ctx.state<FillState>().value;
  const std::vector<int64_t> dims = ReadInts(ctx, 0);
  const auto negative = std::find_if(dims.begin(), dims.end(), [](int64_t d) { return d < 0; });
  if (negative != dims.end()) ctx.FailInput(0, fmt::format("{} is no dim", *negative));
  const std::vector<int64_t> still(dims.size());
  CopyStrided(ctx, value, 0, still, Shape(dims));
}

void ShapeRule(InferScope& scope) {
  const TensorProto* value = scope.attrs().FindTensor("value");
  const TensorType dtype = value == nullptr ? TensorType::kFloat : onnx_optim::DataTypeToTensorType(value->data_type());
  const std::optional<std::vector<OptimDim>> dims = InputSizes(scope, 0);
  if (!dims) return scope.SetTensor(0, dtype, OptimShape::Unknown());
  int64_t count = 1;
  for (const OptimDim& d : *dims) count = d.IsInt() && d.AsInt() <= 1024 && count <= 1024 ? count * d.AsInt() : 1 << 20;
  const ShapeValue filled = ShapeValue::Tensor(dtype, OptimShape(*dims));
  scope.SetOutput(0, filled);
  if (count > static_cast<int64_t>(ShapeValue::kMaxKnownElements) || !filled.Shape().IsFullyKnown()) return;
  const ShapeValue one = KnownTensor(ValueOf(scope.attrs()));
  const auto n = static_cast<size_t>(count);
  if (one.Elements() != nullptr && one.Elements()->size() == 1)
    scope.SetOutput(0, filled.WithElements(KnownElements(n, one.Elements()->front())));
  if (one.Floats() != nullptr && one.Floats()->size() == 1)
    scope.SetOutput(0, filled.WithFloats(KnownFloats(n, one.Floats()->front())));
}

}  // namespace

std::span<const OpDef> constant_of_shape_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "ConstantOfShape",
       .since_version = 9,
       .inputs = {{"input", {TensorType::kInt64}, "T1"}},
       .outputs = {{"output", kTypes, "T2"}},
       .attributes = {{"value", AttrKind::kTensor}},
       .shape = ShapeRule,
       .prepare = Prepare,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
