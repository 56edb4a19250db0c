// SPDX-License-Identifier: Apache-2.0
// Dropout: the input itself; when training (an input, version 12 on) each element is 0 with probability `ratio` and
// divided by 1 - ratio otherwise. The mask says what was kept: all of it where nothing is dropped; of the type of the
// input before version 10, bool from then on.
// https://onnx.ai/onnx/operators/onnx__Dropout.html
#include <fmt/format.h>

#include <algorithm>

#include "onnxseq/errors.h"
#include "ops/as_type.h"
#include "ops/op_helpers.h"
#include "ops/random/random_op.h"
#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

double RatioOf(const RunContext& ctx) {
  if (!ctx.HasInput(1)) return 0.5;
  const Tensor& t = ctx.tensor(1);
  if (t.NumElements() != 1) ctx.FailInput(1, fmt::format("must be a scalar, got {}", t.TypeString()));
  const double ratio = AsType(t, TensorType::kDouble).View<double>()[0];
  if (!(ratio >= 0 && ratio < 1)) ctx.FailInput(1, fmt::format("is {}, must be in [0, 1)", ratio));
  return ratio;
}

bool IsTraining(const RunContext& ctx) {
  if (!ctx.HasInput(2)) return false;
  const Tensor& t = ctx.tensor(2);
  if (t.NumElements() != 1) ctx.FailInput(2, fmt::format("must be a scalar, got {}", t.TypeString()));
  return t.View<bool>()[0];
}

void Run(RunContext& ctx) {
  const Shape shape = ctx.tensor(0).shape();
  const TensorType type = ctx.tensor(0).dtype();
  const double ratio = RatioOf(ctx);
  if (!IsTraining(ctx) || ratio == 0) {
    ctx.SetOutput(0, ctx.TakeInput(0));
    if (!ctx.HasOutput(1)) return;
    const TensorType mask_type = ctx.op().since_version >= 10 ? TensorType::kBool : type;
    Tensor& mask = ctx.AllocateOutput(1, mask_type, shape);
    Dispatch(TypeList<bool, float, double, Float16, BFloat16>(), mask_type,
             [&]<class T>(std::type_identity<T>) { std::ranges::fill(mask.MutableView<T>(), static_cast<T>(1.f)); });
    return;
  }
  const Tensor x = WithOwnType(ctx.tensor(0));
  // The seed is an integer here, a float elsewhere.
  RandomBits bits(ctx.attrs().Has("seed") ? static_cast<uint64_t>(ctx.attrs().Int("seed")) : ctx.NextSeed());
  Tensor y(x.dtype(), shape), mask(TensorType::kBool, shape);
  const std::span<bool> kept = mask.MutableView<bool>();
  Dispatch(FloatList(), x.dtype(), [&]<class T>(std::type_identity<T>) {
    const std::span<const T> from = x.View<T>();
    const std::span<T> to = y.MutableView<T>();
    for (size_t i = 0; i < from.size(); ++i) {
      kept[i] = bits.NextUnit() >= ratio;
      to[i] = static_cast<T>(kept[i] ? static_cast<double>(from[i]) / (1 - ratio) : 0.0);
    }
  });
  ctx.SetOutput(0, AsType(y, type));
  ctx.SetOutput(1, std::move(mask));
}

void ShapeRule(InferScope& scope) {
  const OptimShape& shape = scope.InputShape(0);
  SetLikeInput(scope, 0, shape);
  scope.SetTensor(1, scope.opset() > 0 && scope.opset() < 10 ? scope.InputType(0) : TensorType::kBool, shape);
}

std::unique_ptr<OpState> PrepareTest(const PrepareContext& ctx) {
  if (ctx.attrs().Int("is_test", 0) == 0)
    throw Unsupported("is 0: training is supported from version 12 on",
                      ErrorWhere{.op_type = {}, .node_name = {}, .subject = "attribute 'is_test'", .path = {}});
  return nullptr;
}

OpDef AttributeVersion(int since, TypeSet mask, std::string_view mask_type) {
  return {.domain = "",
          .type = "Dropout",
          .since_version = since,
          .inputs = {{"data", kFloatTypes, "T"}},
          .outputs = {{"output", kFloatTypes, "T"},
                      {.name = "mask", .types = mask, .type_var = mask_type, .count = FormalCount::kOptional}},
          .attributes = {{"ratio", AttrKind::kFloat}},
          .shape = ShapeRule,
          .run = Run};
}

// Versions 1 and 6 drop where 'is_test' is not set.
OpDef TestVersion() {
  OpDef op = AttributeVersion(1, kFloatTypes, "T");
  op.attributes.insert(op.attributes.end(), {{"consumed_inputs", AttrKind::kInts}, {"is_test", AttrKind::kInt}});
  op.prepare = PrepareTest;
  return op;
}

constexpr TypeSet kDropped = kFloatTypes | kFloat8Types;

}  // namespace

std::span<const OpDef> dropout_ops() {
  static const OpDef ops[] = {
      TestVersion(),
      AttributeVersion(7, kFloatTypes, "T"),
      AttributeVersion(10, kBoolType, {}),
      {.domain = "",
       .type = "Dropout",
       .since_version = 12,
       .inputs = {{"data", kDropped, "T"},
                  {.name = "ratio", .types = kDropped, .type_var = "T1", .count = FormalCount::kOptional},
                  {.name = "training_mode", .types = kBoolType, .count = FormalCount::kOptional}},
       .outputs = {{"output", kDropped, "T"}, {.name = "mask", .types = kBoolType, .count = FormalCount::kOptional}},
       .attributes = {{"seed", AttrKind::kInt}},
       .shape = ShapeRule,
       .run = Run,
       .random = true},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
