// SPDX-License-Identifier: Apache-2.0
// SequenceConstruct (ai.onnx 11): a sequence of the given tensors, in order. All have one element type; shapes are
// free. https://onnx.ai/onnx/operators/onnx__SequenceConstruct.html
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "ops/run_context.h"
#include "ops/sequence/sequence_shapes.h"

namespace ONNX_LIGHT_NAMESPACE {

namespace {

void InferSequenceConstruct(InferScope& scope) {
  RequireOutput(scope);
  std::vector<ShapeValue> elements;
  TensorType dtype = TensorType::kUndefined;
  int typed_input = -1;
  for (int i = 0; i < scope.input_size(); ++i) {
    if (!scope.HasInput(i)) continue;
    const ShapeValue tensor = RequireTensor(scope, i);
    if (tensor.Dtype() != TensorType::kUndefined) {
      if (typed_input >= 0 && tensor.Dtype() != dtype) {
        scope.Fail(scope.InputSubject(i),
                   fmt::format("has elements of type {}, {} of type {}", TensorTypeName(tensor.Dtype()),
                               scope.InputSubject(typed_input), TensorTypeName(dtype)));
      }
      if (typed_input < 0) {
        typed_input = i;
        dtype = tensor.Dtype();
      }
    }
    elements.push_back(scope.exact() && tensor.IsTensor() ? tensor : PlainTensor(tensor));
  }
  if (elements.empty()) {
    scope.SetOutput(0, ShapeValue::Sequence(SequenceInfo::Empty(TensorType::kUndefined)));
    return;
  }
  for (ShapeValue& element : elements) element = element.WithDtype(dtype);
  scope.SetOutput(0, ShapeValue::Sequence(SequenceInfo::Of(std::move(elements), scope.context())));
}

void RunSequenceConstruct(RunContext& ctx) {
  std::vector<Tensor> elements;
  elements.reserve(static_cast<size_t>(ctx.input_size()));
  for (int i = 0; i < ctx.input_size(); ++i) {
    if (!ctx.HasInput(i)) continue;
    if (!elements.empty() && ctx.tensor(i).dtype() != elements.front().dtype()) {
      ctx.FailInput(i, fmt::format("has elements of type {}, {} of type {}", TensorTypeName(ctx.tensor(i).dtype()),
                                   ctx.InputSubject(0), TensorTypeName(elements.front().dtype())));
    }
    elements.push_back(ctx.tensor(i));
  }
  ctx.SetOutput(0, Sequence(std::move(elements)));
}

}  // namespace

std::span<const OpDef> sequence_construct_ops() {
  static const OpDef ops[] = {{.domain = "",
                               .type = "SequenceConstruct",
                               .since_version = 11,
                               .inputs = {{.name = "inputs", .type_var = "T", .count = FormalCount::kVariadic}},
                               .outputs = {{.name = "output_sequence", .type_var = "T", .kind = FormalKind::kSequence}},
                               .attributes = {},
                               .shape = InferSequenceConstruct,
                               .run = RunSequenceConstruct}};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
