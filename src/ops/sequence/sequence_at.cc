// SPDX-License-Identifier: Apache-2.0
// SequenceAt (ai.onnx 11): the element at `position`, which counts from the end when negative. The position may be any
// tensor of one element. https://onnx.ai/onnx/operators/onnx__SequenceAt.html
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "ops/op_helpers.h"
#include "ops/run_context.h"
#include "ops/sequence/sequence_shapes.h"

namespace ONNX_LIGHT_NAMESPACE {

namespace {

// The shape all elements share, when each is recorded.
OptimShape SharedShape(const SequenceInfo& info) {
  if (!info.elements || info.elements->empty()) return OptimShape::Unknown();
  const OptimShape& first = info.elements->front().Shape();
  const bool shared = std::all_of(info.elements->begin(), info.elements->end(),
                                  [&](const ShapeValue& element) { return SameShape(element.Shape(), first); });
  return shared ? first : OptimShape::Unknown();
}

void InferSequenceAt(InferScope& scope) {
  RequireOutput(scope);
  const SequenceInfo info = RequireSequence(scope, 0);
  if (!scope.exact()) {
    scope.SetTensor(0, info.ElemDtype(), SharedShape(info));
    return;
  }
  const std::optional<int64_t> position = KnownPosition(scope, 1);
  if (info.IsKnownEmpty()) scope.Fail(scope.InputSubject(0), "has no elements");
  if (position && info.length.IsInt()) {
    const int64_t index = CheckedPosition(scope, 1, *position, info.length.AsInt(), 0);
    if (info.elements && static_cast<size_t>(index) < info.elements->size()) {
      scope.SetOutput(0, (*info.elements)[static_cast<size_t>(index)]);
      return;
    }
  }
  ShapeValue element = AnyElement(scope, info);
  if (info.chunks && position && element.HasRank() && static_cast<size_t>(info.chunks->axis) < element.Shape().Rank()) {
    // Counted from the end, the last piece is what the whole ones leave, and all before it are whole.
    const auto& [axis, size, total] = *info.chunks;
    std::vector<OptimDim> dims = element.Shape().Dims();
    dims[static_cast<size_t>(axis)] = *position >= 0    ? Min(size, total - OptimDim(*position) * size)
                                      : *position == -1 ? total - size * (CeilDiv(total, size) - 1)
                                                        : size;
    element = ShapeValue::Tensor(element.Dtype(), OptimShape(std::move(dims)));
  }
  scope.SetOutput(0, std::move(element));
}

void RunSequenceAt(RunContext& ctx) {
  const Sequence& sequence = ctx.sequence(0);
  const int64_t position = ReadInt(ctx, 1);
  const int64_t n = sequence.size();
  if (n == 0) ctx.FailInput(0, "has no elements");
  if (position < -n || position >= n) ctx.FailInput(1, fmt::format("is {}, not in [{}, {}]", position, -n, n - 1));
  ctx.SetOutput(0, sequence[position < 0 ? position + n : position]);
}

}  // namespace

std::span<const OpDef> sequence_at_ops() {
  static const OpDef ops[] = {{.domain = "",
                               .type = "SequenceAt",
                               .since_version = 11,
                               .inputs = {{.name = "input_sequence", .type_var = "T", .kind = FormalKind::kSequence},
                                          {.name = "position", .types = kIndexTypes}},
                               .outputs = {{.name = "tensor", .type_var = "T"}},
                               .attributes = {},
                               .shape = InferSequenceAt,
                               .run = RunSequenceAt}};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
