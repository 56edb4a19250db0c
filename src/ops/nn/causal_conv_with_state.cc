// SPDX-License-Identifier: Apache-2.0
// CausalConvWithState: each channel of [N,C,L] convolved along time with weights of its own, [C,1,k], over the k - 1
// positions before the input, zeros unless past_state gives them, and the input; the last k - 1 positions of both are
// the next call's past_state. `silu` and `swish` both mean y sigmoid(y). Halves are computed in float, rounded once.
// https://onnx.ai/onnx/operators/onnx__CausalConvWithState.html
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/activation/activation.h"
#include "ops/as_type.h"
#include "ops/op_helpers.h"
#include "ops/unified_size.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr int kInput = 0, kWeight = 1, kBias = 2, kPast = 3;

bool ReadSwish(const NodeAttributes& attrs) {
  const std::string name = attrs.String("activation", "none");
  if (name != "none" && name != "silu" && name != "swish")
    FailAttribute("activation", fmt::format("is \"{}\", must be none, silu or swish", name));
  return name != "none";
}

// y[t] is the sum over j of weight[j] row[t + j], and the bias.
void Convolve(std::span<const float> row, std::span<const float> weight, float bias, bool swish, std::span<float> y) {
  std::ranges::fill(y, bias);
  for (size_t j = 0; j < weight.size(); ++j)
    for (size_t t = 0; t < y.size(); ++t) y[t] += weight[j] * row[t + j];
  if (!swish) return;
  const kernels::Activation sigmoid = kernels::Activation::Default(kernels::ActivationKind::kSigmoid);
  for (float& value : y) value *= kernels::Activate(sigmoid, value);
}

void Run(RunContext& ctx) {
  const bool swish = ReadSwish(ctx.attrs());
  CheckRank(ctx, kInput, 3);
  CheckRank(ctx, kWeight, 3);
  const Tensor x = AsType(ctx.tensor(kInput), TensorType::kFloat), w = AsType(ctx.tensor(kWeight), TensorType::kFloat);
  const int64_t batch = x.dim(0), channels = x.dim(1), length = x.dim(2), kernel = w.dim(2), before = kernel - 1;
  if (w.dim(0) != channels || w.dim(1) != 1 || kernel < 1)
    ctx.FailInput(kWeight, fmt::format("must be [{},1,k] with k of 1 or more, got {}", channels,
                                       ctx.tensor(kWeight).TypeString()));
  // Undefined when absent.
  const auto read = [&](int i, const Shape& shape) {
    if (!ctx.HasInput(i)) return Tensor();
    if (ctx.tensor(i).shape() != shape)
      ctx.FailInput(i, fmt::format("must be {}, got {}", shape.ToString(), ctx.tensor(i).TypeString()));
    return AsType(ctx.tensor(i), TensorType::kFloat);
  };
  const Tensor bias = read(kBias, Shape{channels}), past = read(kPast, Shape{batch, channels, before});
  Tensor y(TensorType::kFloat, x.shape()), present(TensorType::kFloat, Shape{batch, channels, before});
  const std::span<const float> from = x.View<float>(), weights = w.View<float>();
  const std::span<float> to = y.MutableView<float>(), state = present.MutableView<float>();
  const auto part = [](auto span, int64_t row, int64_t size) {
    return span.subspan(static_cast<size_t>(row * size), static_cast<size_t>(size));
  };
  const int64_t work = std::max<int64_t>(1, length * (kernel + (swish ? 10 : 1)));
  // There may be many channels although they are empty.
  const int64_t rows = y.NumElements() + present.NumElements() == 0 ? 0 : batch * channels;
  ctx.ParallelFor(rows, std::max<int64_t>(1, kElementGrain / work), [&](int64_t begin, int64_t end) {
    std::vector<float> row(static_cast<size_t>(before + length));
    const std::span<float> whole(row);
    for (int64_t r = begin; r < end; ++r) {
      if (past.defined()) {
        std::ranges::copy(part(past.View<float>(), r, before), row.begin());
      } else {
        std::fill_n(row.begin(), before, 0.0f);
      }
      std::ranges::copy(part(from, r, length), row.begin() + before);
      const int64_t c = r % channels;
      Convolve(whole, part(weights, c, kernel), bias.defined() ? bias.View<float>()[static_cast<size_t>(c)] : 0.0f,
               swish, part(to, r, length));
      std::ranges::copy(whole.last(static_cast<size_t>(before)), part(state, r, before).begin());
    }
  });
  ctx.SetOutput(0, AsType(y, ctx.tensor(kInput).dtype()));
  ctx.SetOutput(1, AsType(present, ctx.tensor(kInput).dtype()));
}

void ShapeRule(InferScope& scope) {
  (void)ReadSwish(scope.attrs());
  UnifiedSize batch, channels, length, kernel;
  if (const OptimShape* const x = RankedInput(scope, kInput, 3)) {
    batch.Add(scope, *x, kInput, 0);
    channels.Add(scope, *x, kInput, 1);
    length.Add(scope, *x, kInput, 2);
  }
  if (const OptimShape* const w = RankedInput(scope, kWeight, 3)) {
    channels.Add(scope, *w, kWeight, 0);
    (void)scope.Unify((*w)[1], OptimDim(1), DimSubject(scope, kWeight, 1), "what each channel has");
    if ((*w)[2].IsInt() && (*w)[2].AsInt() < 1) scope.Fail(DimSubject(scope, kWeight, 2), "must be 1 or more");
    scope.RequireSize((*w)[2] - OptimDim(1));
    kernel.Add(scope, *w, kWeight, 2);
  }
  if (const OptimShape* const bias = RankedInput(scope, kBias, 1)) channels.Add(scope, *bias, kBias, 0);
  if (const OptimShape* const past = RankedInput(scope, kPast, 3)) {
    batch.Add(scope, *past, kPast, 0);
    channels.Add(scope, *past, kPast, 1);
    kernel.Add(scope, (*past)[2] + OptimDim(1), fmt::format("{} + 1", DimSubject(scope, kPast, 2)));
  }
  const OptimDim n = batch.Get(scope, "N"), c = channels.Get(scope, "C");
  const TensorType type = scope.InputType(kInput);
  scope.SetTensor(0, type, OptimShape{n, c, length.Get(scope, "L")});
  scope.SetTensor(1, type, OptimShape{n, c, kernel.Get(scope, "k") - OptimDim(1)});
}

constexpr TypeSet kTypes{TensorType::kFloat, TensorType::kFloat16, TensorType::kBfloat16};

}  // namespace

std::span<const OpDef> causal_conv_with_state_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "CausalConvWithState",
       .since_version = 27,
       .inputs = {{"input", kTypes, "T"},
                  {"weight", kTypes, "T"},
                  {.name = "bias", .types = kTypes, .type_var = "T", .count = FormalCount::kOptional},
                  {.name = "past_state", .types = kTypes, .type_var = "T", .count = FormalCount::kOptional}},
       .outputs = {{"output", kTypes, "T"}, {"present_state", kTypes, "T"}},
       .attributes = {{"activation", AttrKind::kString}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
