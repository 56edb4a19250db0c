// SPDX-License-Identifier: Apache-2.0
// ReverseSequence (ai.onnx 10): of each batch entry i the first sequence_lens[i] time steps in reverse order, the rest
// as it is. Time and batch are the first two axes, in either order.
// https://onnx.ai/onnx/operators/onnx__ReverseSequence.html
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "ops/op_helpers.h"
#include "ops/run_context.h"
#include "ops/sequence/copy_elements.h"
#include "shapes/infer_scope.h"

namespace ONNX_LIGHT_NAMESPACE {

namespace {

struct ReverseSequenceState final : OpState {
  int batch_axis = 1;
  int time_axis = 0;
};

ReverseSequenceState ReadAttributes(const NodeAttributes& attributes) {
  const auto read = [&](std::string_view name, int64_t absent) {
    const int64_t axis = attributes.Int(name, absent);
    if (axis != 0 && axis != 1) {
      FailAttribute(name, fmt::format("{} is not 0 or 1", axis));
    }
    return static_cast<int>(axis);
  };
  ReverseSequenceState state;
  state.batch_axis = read("batch_axis", 1);
  state.time_axis = read("time_axis", 0);
  if (state.batch_axis == state.time_axis) {
    FailAttribute("time_axis", fmt::format("{} is also the batch axis", state.time_axis));
  }
  return state;
}

void InferReverseSequence(InferScope& scope) {
  const ReverseSequenceState axes = ReadAttributes(scope.attrs());
  const OptimShape& shape = scope.InputShape(0);
  const OptimShape& lens = scope.InputShape(1);
  if (!shape.IsUnknown() && shape.Rank() < 2) {
    scope.Fail(scope.InputSubject(0),
               fmt::format("must have at least 2 dims, got {}", InferScope::Describe(scope.Input(0))));
  }
  if (!lens.IsUnknown() && lens.Rank() != 1) {
    scope.Fail(scope.InputSubject(1), fmt::format("must have 1 dim, got {}", InferScope::Describe(scope.Input(1))));
  }
  OptimShape result = shape;
  if (!shape.IsUnknown() && !lens.IsUnknown()) {
    const auto batch = static_cast<size_t>(axes.batch_axis);
    result[batch] = scope.Unify(shape[batch], lens[0], fmt::format("dim {} of {}", batch, scope.InputSubject(0)),
                                fmt::format("dim 0 of {}", scope.InputSubject(1)));
  }
  scope.SetTensor(0, scope.InputType(0), std::move(result));
}

std::unique_ptr<OpState> PrepareReverseSequence(const PrepareContext& ctx) {
  return std::make_unique<ReverseSequenceState>(ReadAttributes(ctx.attrs()));
}

void RunReverseSequence(RunContext& ctx) {
  const auto& axes = ctx.state<ReverseSequenceState>();
  const Tensor& input = ctx.tensor(0);
  const Tensor& lens = ctx.tensor(1);
  if (input.rank() < 2) ctx.FailInput(0, fmt::format("must have at least 2 dims, got {}", input.TypeString()));
  const int64_t batch = input.dim(axes.batch_axis);
  const int64_t time = input.dim(axes.time_axis);
  if (lens.rank() != 1 || lens.dim(0) != batch) {
    ctx.FailInput(
        1, fmt::format("must be tensor(int64)[{}], one length for each batch entry, got {}", batch, lens.TypeString()));
  }
  const std::span<const int64_t> lengths = lens.View<int64_t>();
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t length = lengths[static_cast<size_t>(b)];
    if (length < 0 || length > time) {
      ctx.FailInput(1, fmt::format("element {} is {}, not in [0, {}]", b, length, time));
    }
  }
  Tensor& output = ctx.AllocateOutput(0, input.dtype(), input.shape());
  if (output.NumElements() == 0) return;
  const int64_t inner = DimsProduct(input.shape().dims(), 2, input.rank());
  const int64_t time_stride = axes.time_axis == 0 ? batch * inner : inner;
  const int64_t batch_stride = axes.batch_axis == 0 ? time * inner : inner;
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t length = lengths[static_cast<size_t>(b)];
    for (int64_t t = 0; t < time; ++t) {
      const int64_t from = t < length ? length - 1 - t : t;
      CopyElements(output, b * batch_stride + t * time_stride, input, b * batch_stride + from * time_stride, inner);
    }
  }
}

}  // namespace

std::span<const OpDef> reverse_sequence_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "ReverseSequence",
       .since_version = 10,
       .inputs = {{.name = "input", .type_var = "T"}, {.name = "sequence_lens", .types = {TensorType::kInt64}}},
       .outputs = {{.name = "Y", .type_var = "T"}},
       .attributes = {{"batch_axis", AttrKind::kInt}, {"time_axis", AttrKind::kInt}},
       .shape = InferReverseSequence,
       .prepare = PrepareReverseSequence,
       .run = RunReverseSequence}};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
