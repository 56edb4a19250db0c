// SPDX-License-Identifier: Apache-2.0
// SequenceErase (ai.onnx 11): the sequence without the element at `position` (the last when it is left out), which
// counts from the end when negative and may be any tensor of one element.
// https://onnx.ai/onnx/operators/onnx__SequenceErase.html
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ops/op_helpers.h"
#include "ops/run_context.h"
#include "ops/sequence/sequence_shapes.h"

namespace ONNX_LIGHT_NAMESPACE {

namespace {

bool AllSame(const std::vector<ShapeValue>& elements) {
  return std::all_of(elements.begin(), elements.end(),
                     [&](const ShapeValue& element) { return element == elements.front(); });
}

void InferSequenceErase(InferScope& scope) {
  RequireOutput(scope);
  SequenceInfo info = RequireSequence(scope, 0);
  const OptimDim shorter =
      info.length.IsInt() ? OptimDim(std::max<int64_t>(info.length.AsInt(), 1) - 1) : info.length - 1;
  if (!scope.exact()) {
    scope.SetOutput(0, PlainSequence(info.ElemDtype(), shorter));
    return;
  }
  if (info.IsKnownEmpty()) scope.Fail(scope.InputSubject(0), "has no elements");
  const std::optional<int64_t> position = scope.HasInput(1) ? KnownPosition(scope, 1) : std::optional<int64_t>(-1);
  int64_t index = -1;
  if (position && info.length.IsInt()) index = CheckedPosition(scope, 1, *position, info.length.AsInt(), 0);
  if (info.elements && !info.elements->empty() && (index >= 0 || AllSame(*info.elements))) {
    info.elements->erase(info.elements->begin() + std::max<int64_t>(index, 0));
    scope.SetOutput(0, info.elements->empty()
                           ? ShapeValue::Sequence(SequenceInfo::Empty(info.ElemDtype()))
                           : ShapeValue::Sequence(SequenceInfo::Of(std::move(*info.elements), scope.context())));
    return;
  }
  if (shorter == OptimDim(0)) {
    scope.SetOutput(0, ShapeValue::Sequence(SequenceInfo::Empty(info.ElemDtype())));
    return;
  }
  if (info.elements) info = SequenceInfo::Of(std::move(*info.elements), scope.context());
  scope.SetOutput(0, ShapeValue::Sequence(SequenceInfo::Summary(shorter, info.elem, info.varying)));
}

void RunSequenceErase(RunContext& ctx) {
  const int64_t n = ctx.sequence(0).size();
  const int64_t position = ctx.HasInput(1) ? ReadInt(ctx, 1) : -1;
  if (n == 0) ctx.FailInput(0, "has no elements");
  if (position < -n || position >= n) ctx.FailInput(1, fmt::format("is {}, not in [{}, {}]", position, -n, n - 1));
  Value sequence = ctx.TakeInput(0);
  sequence.mutable_sequence().Erase(position < 0 ? position + n : position);
  ctx.SetOutput(0, std::move(sequence));
}

}  // namespace

std::span<const OpDef> sequence_erase_ops() {
  static const OpDef ops[] = {{.domain = "",
                               .type = "SequenceErase",
                               .since_version = 11,
                               .inputs = {{.name = "input_sequence", .type_var = "S", .kind = FormalKind::kSequence},
                                          {.name = "position", .types = kIndexTypes, .count = FormalCount::kOptional}},
                               .outputs = {{.name = "output_sequence", .type_var = "S", .kind = FormalKind::kSequence}},
                               .attributes = {},
                               .shape = InferSequenceErase,
                               .run = RunSequenceErase}};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
