// SPDX-License-Identifier: Apache-2.0
// ConstantOfShape: a tensor of the given dims, every element the one in `value` (float 0 without it).
// https://onnx.ai/onnx/operators/onnx__ConstantOfShape.html
#include <fmt/format.h>

#include <algorithm>

#include "ops/op_helpers.h"
#include "ops/type_dispatch.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr TypeSet kTypes = kNumericTypes | kBoolType;

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
  const std::optional<std::vector<OptimDim>> dims = scope.InputValue(0);
  if (!dims || dims->size() > OptimShape::kMaxRank) {
    const std::optional<int> rank = ListLength(scope.InputShape(0));
    return scope.SetTensor(0, dtype, rank ? scope.FreshShape(*rank) : OptimShape::Unknown());
  }
  OptimShape shape;
  int64_t count = 1;
  for (const OptimDim& d : *dims) {
    if (d.IsInt() && d.AsInt() < 0) scope.Fail(scope.InputSubject(0), fmt::format("{} is no dim", d.AsInt()));
    shape.PushBack(scope.context().ProvablyGreaterEqual(d, 0) ? d : scope.Fresh());
    count = d.IsInt() && d.AsInt() <= 1024 && count <= 1024 ? count * d.AsInt() : 1 << 20;
  }
  scope.SetTensor(0, dtype, shape);
  if (count > static_cast<int64_t>(ShapeValue::kMaxKnownElements) || !shape.IsFullyKnown()) return;
  if (value == nullptr || !TypeSet({TensorType::kInt32, TensorType::kInt64, TensorType::kBool}).Has(dtype)) return;
  const Tensor one = ValueOf(scope.attrs());
  if (one.NumElements() != 1) return;
  Dispatch(TypeList<int32_t, int64_t, bool>(), dtype, [&]<class T>(std::type_identity<T>) {
    scope.SetKnown(0,
                   std::vector<OptimDim>(static_cast<size_t>(count), OptimDim(static_cast<int64_t>(one.View<T>()[0]))));
  });
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
