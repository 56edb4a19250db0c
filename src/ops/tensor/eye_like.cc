// SPDX-License-Identifier: Apache-2.0
// EyeLike: a matrix of the shape of the input, ones on the diagonal that is k above the main one, zeros elsewhere, of
// type `dtype` or that of the input.
// https://onnx.ai/onnx/operators/onnx__EyeLike.html
#include <fmt/format.h>

#include "ops/op_helpers.h"
#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr TypeSet kEyeTypes = kNumericTypes | kBoolType;
using EyeList = TypeList<float, double, Float16, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                         uint32_t, uint64_t, bool>;

TensorType TypeOf(const NodeAttributes& attrs, TensorType input) {
  if (!attrs.Has("dtype")) return input;
  const TensorType type = onnx_optim::DataTypeToTensorType(static_cast<int32_t>(attrs.Int("dtype")));
  if (!kEyeTypes.Has(type)) FailAttribute("dtype", fmt::format("cannot be {}", attrs.Int("dtype")));
  return type;
}

void Run(RunContext& ctx) {
  const Tensor x = ctx.tensor(0);
  if (x.rank() != 2) ctx.FailInput(0, fmt::format("must be a matrix, got {}", x.TypeString()));
  const int64_t k = ctx.attrs().Int("k", 0);
  const TensorType type = TypeOf(ctx.attrs(), x.dtype());
  Tensor y(type, x.shape());
  Dispatch(EyeList(), type, [&]<class T>(std::type_identity<T>) {
    T* to = y.MutableView<T>().data();
    for (int64_t r = 0; r < x.dim(0); ++r)
      for (int64_t c = 0; c < x.dim(1); ++c) *to++ = static_cast<T>(c - r == k ? 1.f : 0.f);
  });
  ctx.SetOutput(0, std::move(y));
}

void ShapeRule(InferScope& scope) {
  const OptimShape& x = scope.InputShape(0);
  if (!x.IsUnknown() && x.Rank() != 2)
    scope.Fail(scope.InputSubject(0), fmt::format("must be a matrix, got {}", InferScope::Describe(scope.Input(0))));
  scope.SetTensor(0, TypeOf(scope.attrs(), scope.InputType(0)), x.IsUnknown() ? scope.FreshShape(2) : x);
}

}  // namespace

std::span<const OpDef> eye_like_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "EyeLike",
       .since_version = 9,
       .inputs = {{"input", kEyeTypes, "T1"}},
       .outputs = {{"output", kEyeTypes, "T2"}},
       .attributes = {{"dtype", AttrKind::kInt}, {"k", AttrKind::kInt}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
