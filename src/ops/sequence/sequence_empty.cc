// SPDX-License-Identifier: Apache-2.0
// SequenceEmpty (ai.onnx 11): a sequence without elements whose elements would have type `dtype`, float when it is not
// given. https://onnx.ai/onnx/operators/onnx__SequenceEmpty.html
#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <memory>

#include "ops/run_context.h"
#include "ops/sequence/sequence_shapes.h"

namespace ONNX_LIGHT_NAMESPACE {

namespace {

struct SequenceEmptyState final : OpState {
  TensorType dtype = TensorType::kFloat;
};

TensorType ReadDtype(const NodeAttributes& attributes) {
  const int64_t number = attributes.Int("dtype", TensorProto::FLOAT);
  if (number < 0 || number > std::numeric_limits<int32_t>::max()) return TensorType::kUndefined;
  return onnx_optim::DataTypeToTensorType(static_cast<int32_t>(number));
}

void InferSequenceEmpty(InferScope& scope) {
  RequireOutput(scope);
  scope.SetOutput(0, ShapeValue::Sequence(SequenceInfo::Empty(ReadDtype(scope.attrs()))));
}

std::unique_ptr<OpState> PrepareSequenceEmpty(const PrepareContext& ctx) {
  auto state = std::make_unique<SequenceEmptyState>();
  state->dtype = ReadDtype(ctx.attrs());
  if (state->dtype == TensorType::kUndefined) {
    FailAttribute("dtype", fmt::format("{} is no element type", ctx.attrs().Int("dtype")));
  }
  return state;
}

void RunSequenceEmpty(RunContext& ctx) { ctx.SetOutput(0, Sequence(ctx.state<SequenceEmptyState>().dtype)); }

}  // namespace

std::span<const OpDef> sequence_empty_ops() {
  static const OpDef ops[] = {{.domain = "",
                               .type = "SequenceEmpty",
                               .since_version = 11,
                               .inputs = {},
                               .outputs = {{.name = "output", .kind = FormalKind::kSequence}},
                               .attributes = {{"dtype", AttrKind::kInt}},
                               .shape = InferSequenceEmpty,
                               .prepare = PrepareSequenceEmpty,
                               .run = RunSequenceEmpty}};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
