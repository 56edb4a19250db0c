// SPDX-License-Identifier: Apache-2.0
// SequenceInsert (ai.onnx 11): the sequence with `tensor` before the element at `position`, in [-n, n]; n, and no
// position, append. Position may be any tensor of one element. In place, and amortised constant at the end, when nobody
// else holds the sequence. https://onnx.ai/onnx/operators/onnx__SequenceInsert.html
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "ops/op_helpers.h"
#include "ops/run_context.h"
#include "ops/sequence/sequence_shapes.h"

namespace ONNX_LIGHT_NAMESPACE {

namespace {

// The summary of `info` with one more element, `tensor`, somewhere.
SequenceInfo Extended(const SequenceInfo& info, const ShapeValue& tensor, OptimDim length, ShapesContext& ctx) {
  const ShapeValue before = info.elements ? JoinAll(*info.elements, ctx) : info.elem;
  // Symbols the join made, and those of the new element's dims that no other has, vary.
  const ShapeValue joined = Join(before, tensor, ctx);
  const std::vector<std::string> shared = SymbolsOf(before);
  std::vector<std::string> varying = info.varying;
  for (const std::string& symbol : SymbolsOf(joined)) {
    if (!std::binary_search(shared.begin(), shared.end(), symbol)) varying.push_back(symbol);
  }
  SequenceInfo result = SequenceInfo::Summary(std::move(length), joined, std::move(varying));
  if (!before.IsTensor() || !before.HasRank() || !tensor.HasRank() || before.Shape().Rank() != tensor.Shape().Rank())
    return result;
  for (size_t axis = 0; axis < tensor.Shape().Rank(); ++axis) {
    const std::optional<OptimDim> sum = info.AxisSum(static_cast<int64_t>(axis));
    if (sum) result.axis_sums[static_cast<int64_t>(axis)] = *sum + tensor.Shape()[axis];
  }
  return result;
}

void InferSequenceInsert(InferScope& scope) {
  RequireOutput(scope);
  if (scope.input_size() < 2)
    scope.Fail({}, fmt::format("needs a sequence and a tensor, got {} inputs", scope.input_size()));
  SequenceInfo info = RequireSequence(scope, 0);
  ShapeValue tensor = RequireTensor(scope, 1);
  TensorType dtype = info.ElemDtype();
  if (dtype == TensorType::kUndefined) {
    dtype = tensor.Dtype();
  } else if (tensor.Dtype() != TensorType::kUndefined && tensor.Dtype() != dtype) {
    scope.Fail(scope.InputSubject(1),
               fmt::format("has elements of type {}, {} of type {}", TensorTypeName(tensor.Dtype()),
                           scope.InputSubject(0), TensorTypeName(dtype)));
  }
  if (info.length == OptimDim(INT64_MAX))
    scope.Fail(scope.InputSubject(0), fmt::format("has {} elements, no more fit", INT64_MAX));
  OptimDim longer = info.length + 1;
  if (!scope.exact()) {
    scope.SetOutput(0, PlainSequence(dtype, std::move(longer)));
    return;
  }
  int64_t index = -1;
  if (info.length.IsInt()) {
    const int64_t n = info.length.AsInt();
    const std::optional<int64_t> position = scope.HasInput(2) ? KnownPosition(scope, 2) : std::optional<int64_t>(n);
    if (position) index = CheckedPosition(scope, 2, *position, n, 1);
    if (n == 0) index = 0;
  }
  tensor = tensor.IsTensor() ? tensor.WithDtype(dtype) : ShapeValue::Tensor(dtype, OptimShape::Unknown());
  if (info.IsKnownEmpty()) info.elements.emplace();
  if (index >= 0 && info.elements && info.elements->size() < kMaxListedElements) {
    info.elements->insert(info.elements->begin() + index, std::move(tensor));
    scope.SetOutput(0, ShapeValue::Sequence(SequenceInfo::Of(std::move(*info.elements), scope.context())));
    return;
  }
  if (info.elements && info.elements->size() < kMaxListedElements) {
    const auto differs = [&](const ShapeValue& element) { return !(element == tensor); };
    if (std::none_of(info.elements->begin(), info.elements->end(), differs)) {
      info.elements->push_back(std::move(tensor));
      scope.SetOutput(0, ShapeValue::Sequence(SequenceInfo::Of(std::move(*info.elements), scope.context())));
      return;
    }
  }
  scope.SetOutput(0, ShapeValue::Sequence(Extended(info, tensor, std::move(longer), scope.context())));
}

void RunSequenceInsert(RunContext& ctx) {
  const int64_t n = ctx.sequence(0).size();
  const TensorType dtype = ctx.sequence(0).dtype();
  if (dtype != TensorType::kUndefined && ctx.tensor(1).dtype() != dtype) {
    ctx.FailInput(1, fmt::format("has elements of type {}, {} of type {}", TensorTypeName(ctx.tensor(1).dtype()),
                                 ctx.InputSubject(0), TensorTypeName(dtype)));
  }
  const int64_t position = ctx.HasInput(2) ? ReadInt(ctx, 2) : n;
  if (position < -n || position > n) ctx.FailInput(2, fmt::format("is {}, not in [{}, {}]", position, -n, n));
  Value tensor = ctx.TakeInput(1);
  Value sequence = ctx.TakeInput(0);
  sequence.mutable_sequence().Insert(position < 0 ? position + n : position, std::move(tensor.mutable_tensor()));
  ctx.SetOutput(0, std::move(sequence));
}

}  // namespace

std::span<const OpDef> sequence_insert_ops() {
  static const OpDef ops[] = {{.domain = "",
                               .type = "SequenceInsert",
                               .since_version = 11,
                               .inputs = {{.name = "input_sequence", .type_var = "T", .kind = FormalKind::kSequence},
                                          {.name = "tensor", .type_var = "T"},
                                          {.name = "position", .types = kIndexTypes, .count = FormalCount::kOptional}},
                               .outputs = {{.name = "output_sequence", .type_var = "T", .kind = FormalKind::kSequence}},
                               .attributes = {},
                               .shape = InferSequenceInsert,
                               .run = RunSequenceInsert}};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
