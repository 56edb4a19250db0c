// SPDX-License-Identifier: Apache-2.0
// Bernoulli: 1 with the probability that the input says, else 0, as type `dtype` or that of the input.
// https://onnx.ai/onnx/operators/onnx__Bernoulli.html
#include <fmt/format.h>

#include "ops/random/random_op.h"
#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr TypeSet kTypes = kNumericTypes | kBoolType;
using OutputList = TypeList<float, double, Float16, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                            uint32_t, uint64_t, bool>;

TensorType TypeOf(const NodeAttributes& attrs, TensorType input) {
  if (!attrs.Has("dtype")) return input;
  const TensorType type = onnx_optim::DataTypeToTensorType(static_cast<int32_t>(attrs.Int("dtype")));
  if (!kTypes.Has(type)) FailAttribute("dtype", fmt::format("cannot be {}", attrs.Int("dtype")));
  return type;
}

void Run(RunContext& ctx) {
  const Tensor p = ctx.tensor(0);
  const TensorType type = TypeOf(ctx.attrs(), p.dtype());
  RandomBits bits = MakeRandomBits(ctx);
  std::vector<char> ones;
  Dispatch(FloatList(), p.dtype(), [&]<class T>(std::type_identity<T>) {
    size_t i = 0;
    for (const T& element : p.View<T>()) {
      const auto probability = static_cast<double>(element);
      if (!(probability >= 0 && probability <= 1))
        ctx.FailInput(0, fmt::format("element {} is {}, no probability", i, probability));
      ones.push_back(bits.NextUnit() < probability ? 1 : 0);
      ++i;
    }
  });
  Tensor y(type, p.shape());
  Dispatch(OutputList(), type, [&]<class T>(std::type_identity<T>) {
    const std::span<T> to = y.MutableView<T>();
    for (size_t i = 0; i < ones.size(); ++i) to[i] = static_cast<T>(static_cast<float>(ones[i]));
  });
  ctx.SetOutput(0, std::move(y));
}

void ShapeRule(InferScope& scope) {
  scope.SetTensor(0, TypeOf(scope.attrs(), scope.InputType(0)), scope.InputShape(0));
}

}  // namespace

std::span<const OpDef> bernoulli_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "Bernoulli",
       .since_version = 15,
       .inputs = {{"input", kFloatTypes, "T1"}},
       .outputs = {{"output", kTypes, "T2"}},
       .attributes = {{"dtype", AttrKind::kInt}, {"seed", AttrKind::kFloat}},
       .shape = ShapeRule,
       .run = Run,
       .random = true},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
