// SPDX-License-Identifier: Apache-2.0
// SegmentLengths (onnxseq.internal 1): the sizes of a sequence's elements along `axis`, which counts from the back when
// negative: an int64 vector. segments.h says what it is for.
#include <fmt/format.h>

#include "onnxseq/errors.h"
#include "ops/internal/internal_domain.h"
#include "ops/op_helpers.h"
#include "ops/sequence/sequence_shapes.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Run(RunContext& ctx) {
  const Sequence sequence = ctx.sequence(0);
  const int64_t axis = ctx.attrs().Int("axis");
  Tensor& lengths = ctx.AllocateOutput(0, TensorType::kInt64, Shape{sequence.size()});
  int64_t* to = lengths.MutableView<int64_t>().data();
  for (int64_t e = 0; e < sequence.size(); ++e) {
    const Shape& shape = sequence[e].shape();
    if (axis < -shape.rank() || axis >= shape.rank())
      ctx.FailInput(0, fmt::format("element {} must have an axis {}, got {}", e, axis, sequence[e].TypeString()));
    to[e] = shape[static_cast<int>(axis < 0 ? axis + shape.rank() : axis)];
  }
}

void ShapeRule(InferScope& scope) {
  const SequenceInfo info = RequireSequence(scope, 0);
  const int64_t axis = scope.attrs().Int("axis");
  scope.SetTensor(0, TensorType::kInt64, OptimShape{info.length});
  if (!info.elements) return;
  std::vector<OptimDim> lengths;
  for (const ShapeValue& element : *info.elements) {
    if (!element.IsTensor() || element.Shape().IsUnknown()) return;
    const OptimShape& shape = element.Shape();
    const auto rank = static_cast<int64_t>(shape.Rank());
    if (axis < -rank || axis >= rank)
      scope.Fail(scope.InputSubject(0), fmt::format("element {} must have an axis {}, got {}", lengths.size(), axis,
                                                    InferScope::Describe(element)));
    lengths.push_back(shape[static_cast<size_t>(axis < 0 ? axis + rank : axis)]);
  }
  scope.SetOutput(0, ShapeValue::Int64Vector(lengths));
}

}  // namespace

std::span<const OpDef> segment_lengths_ops() {
  static const OpDef ops[] = {
      {.domain = kInternalDomain,
       .type = "SegmentLengths",
       .since_version = 1,
       .inputs = {{.name = "sequence", .kind = FormalKind::kSequence}},
       .outputs = {{.name = "lengths", .types = {TensorType::kInt64}}},
       .attributes = {{"axis", AttrKind::kInt, true}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
