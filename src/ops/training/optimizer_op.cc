// SPDX-License-Identifier: Apache-2.0
#include "ops/training/optimizer_op.h"

#include <fmt/format.h>

#include "ops/unified_size.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr int kRate = 0, kCount = 1, kFirst = 2;

// How many tensors there are, of a RunContext or an InferScope.
template <class Context>
int CountTensors(const Context& ctx, int states, int outputs) {
  const int given = ctx.input_size() - kFirst, kinds = 2 + states;
  if (given < kinds || given % kinds != 0)
    ctx.Fail({}, fmt::format("{} inputs after R and T are not {} for each tensor", given, kinds));
  const int n = given / kinds;
  if (outputs != n * (1 + states))
    ctx.Fail({}, fmt::format("{} outputs are not {} for each of {} tensors", outputs, 1 + states, n));
  return n;
}

const Tensor& OneElement(const RunContext& ctx, int i) {
  const Tensor& t = ctx.tensor(i);
  if (t.NumElements() != 1) ctx.FailInput(i, fmt::format("must have one element, got {}", t.TypeString()));
  return t;
}

template <int kStates>
void ShapeRule(InferScope& scope) {
  const int n = CountTensors(scope, kStates, scope.output_size());
  for (int i = 0; i < n; ++i) {
    std::vector<UnifiedSize> sizes;
    TensorType type = TensorType::kUndefined;
    int known = -1, typed = -1;  // the first input whose rank, whose type is known
    for (int input = kFirst + i; input < scope.input_size(); input += n) {
      const TensorType its = scope.InputType(input);
      if (type != TensorType::kUndefined && its != TensorType::kUndefined && its != type)
        scope.Fail(scope.InputSubject(input),
                   fmt::format("has elements of type {}, {} of type {}", onnx_optim::TensorTypeName(its),
                               scope.InputSubject(typed), onnx_optim::TensorTypeName(type)));
      if (type == TensorType::kUndefined) {
        type = its;
        typed = input;
      }
      const OptimShape& shape = scope.InputShape(input);
      if (shape.IsUnknown()) continue;
      if (known < 0) {
        known = input;
        sizes.resize(shape.Rank());
      }
      if (shape.Rank() != sizes.size())
        scope.Fail(scope.InputSubject(input),
                   fmt::format("has rank {}, {} has {}", shape.Rank(), scope.InputSubject(known), sizes.size()));
      for (size_t axis = 0; axis < sizes.size(); ++axis) sizes[axis].Add(scope, shape, input, static_cast<int>(axis));
    }
    OptimShape shape = known < 0 ? OptimShape::Unknown() : OptimShape{};
    for (UnifiedSize& size : sizes) shape.PushBack(size.Get(scope, {}));
    for (int output = i; output < scope.output_size(); output += n) scope.SetTensor(output, type, shape);
  }
}

}  // namespace

double ReadRate(const RunContext& ctx) {
  const Tensor& t = OneElement(ctx, kRate);
  return t.dtype() == TensorType::kDouble ? t.View<double>()[0] : static_cast<double>(t.View<float>()[0]);
}

int64_t ReadCount(const RunContext& ctx) { return OneElement(ctx, kCount).View<int64_t>()[0]; }

std::vector<std::vector<Tensor>> TakeTrained(RunContext& ctx, int states) {
  const int n = CountTensors(ctx, states, ctx.output_size());
  for (int input = kFirst + n; input < ctx.input_size(); ++input) {
    const int trained = kFirst + (input - kFirst) % n;
    const Tensor &tensor = ctx.tensor(trained), &its = ctx.tensor(input);
    if (its.dtype() != tensor.dtype() || its.shape() != tensor.shape())
      ctx.FailInput(
          input, fmt::format("must be {} as the tensor it belongs to, got {}", tensor.TypeString(), its.TypeString()));
  }
  std::vector<std::vector<Tensor>> kinds(static_cast<size_t>(2 + states));
  for (int input = kFirst; input < ctx.input_size(); ++input)
    kinds[static_cast<size_t>((input - kFirst) / n)].push_back(ctx.TakeInput(input).tensor());
  for (size_t kind = 0; kind < kinds.size(); ++kind)
    for (Tensor& tensor : kinds[kind])
      if (kind != 1) tensor.Unshare();
  return kinds;
}

OpDef OptimizerOp(std::string_view type, int states, std::vector<AttrDef> attributes, void (*run)(RunContext&)) {
  constexpr TypeSet kTypes{TensorType::kFloat, TensorType::kDouble};
  return {.domain = "ai.onnx.preview.training",
          .type = type,
          .since_version = 1,
          .inputs = {{"R", kTypes},
                     {"T", {TensorType::kInt64}},
                     {.name = "inputs", .types = kTypes, .count = FormalCount::kVariadic}},
          .outputs = {{.name = "outputs", .types = kTypes, .count = FormalCount::kVariadic}},
          .attributes = std::move(attributes),
          .shape = states == 2 ? ShapeRule<2> : ShapeRule<1>,
          .run = run};
}

}  // namespace ONNX_LIGHT_NAMESPACE
