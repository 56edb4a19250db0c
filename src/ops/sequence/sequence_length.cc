// SPDX-License-Identifier: Apache-2.0
// SequenceLength (ai.onnx 11): how many elements a sequence has, an int64 scalar.
// https://onnx.ai/onnx/operators/onnx__SequenceLength.html
#include "ops/run_context.h"
#include "ops/sequence/sequence_shapes.h"

namespace ONNX_LIGHT_NAMESPACE {

namespace {

void InferSequenceLength(InferScope& scope) {
  RequireOutput(scope);
  const SequenceInfo info = RequireSequence(scope, 0);
  if (scope.exact()) {
    scope.SetOutput(0, ShapeValue::Int64Scalar(info.length));
  } else {
    scope.SetTensor(0, TensorType::kInt64, OptimShape{});
  }
}

void RunSequenceLength(RunContext& ctx) { ctx.SetOutput(0, Tensor::Scalar<int64_t>(ctx.sequence(0).size())); }

}  // namespace

std::span<const OpDef> sequence_length_ops() {
  static const OpDef ops[] = {{.domain = "",
                               .type = "SequenceLength",
                               .since_version = 11,
                               .inputs = {{.name = "input_sequence", .kind = FormalKind::kSequence}},
                               .outputs = {{.name = "length", .types = {TensorType::kInt64}}},
                               .attributes = {},
                               .shape = InferSequenceLength,
                               .run = RunSequenceLength}};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
