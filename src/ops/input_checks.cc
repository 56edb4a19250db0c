// SPDX-License-Identifier: Apache-2.0
#include "ops/input_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/run_context.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

TensorType TypeOf(const Value& value) {
  if (value.IsTensor()) return value.tensor().dtype();
  if (value.IsMap()) return value.map().values().dtype();
  return value.IsSequence() ? value.sequence().dtype() : TensorType::kUndefined;
}

bool IsOf(FormalKind kind, const Value& value) {
  switch (kind) {
    case FormalKind::kTensor:
      return value.IsTensor();
    case FormalKind::kSequence:
      return value.IsSequence() && value.sequence().HoldsTensors();
    case FormalKind::kTensorOrSequence:
      return value.IsTensor() || (value.IsSequence() && value.sequence().HoldsTensors());
    case FormalKind::kMap:
      return value.IsMap();
    case FormalKind::kSequenceOfMaps:
      return value.IsSequence() && (value.sequence().empty() || value.sequence().ValueAt(0).IsMap());
    case FormalKind::kAny:
      return true;
  }
  return false;
}

[[noreturn]] void FailKind(const RunContext& ctx, int i, FormalKind kind, const Value& value) {
  const std::string_view wanted = kind == FormalKind::kTensor                              ? "a tensor"
                                  : kind == FormalKind::kMap                               ? "a map"
                                  : kind == FormalKind::kTensorOrSequence                  ? "a tensor or a sequence"
                                  : value.IsSequence() && !value.sequence().HoldsTensors() ? "a sequence of tensors"
                                                                                           : "a sequence";
  ctx.FailInput(i, fmt::format("must be {}, got {}", wanted, value.TypeString()));
}

}  // namespace

std::vector<InputCheck> InputChecks(const OpDef& op, const NodeProto& node) {
  const std::vector<Formal>& formals = op.inputs;
  std::vector<InputCheck> checks;
  for (size_t i = 0; i < node.input().size(); ++i) {
    const Formal& formal = formals[std::min(i, formals.size() - 1)];
    InputCheck check{formal.types.bits, formal.kind, formal.count != FormalCount::kOptional && !node.input(i).empty(),
                     -1};
    for (size_t j = 0; j < i && !formal.type_var.empty() && check.same_as < 0; ++j)
      if (formals[std::min(j, formals.size() - 1)].type_var == formal.type_var && !node.input(j).empty())
        check.same_as = static_cast<int16_t>(j);
    checks.push_back(check);
  }
  return checks;
}

void CheckInputs(const RunContext& ctx, std::span<const InputCheck> checks) {
  for (size_t k = 0; k < checks.size(); ++k) {
    const auto i = static_cast<int>(k);
    const InputCheck& check = checks[k];
    const Value& value = ctx.input(i);
    if (value.IsNone()) {
      if (check.required && check.kind != FormalKind::kAny) FailKind(ctx, i, check.kind, value);
      continue;
    }
    if (!IsOf(check.kind, value)) FailKind(ctx, i, check.kind, value);
    const TensorType type = TypeOf(value);
    if (type == TensorType::kUndefined) continue;  // an empty sequence of nobody knows what
    if (((check.types >> static_cast<int>(type)) & 1u) == 0)
      ctx.FailInput(i, fmt::format("cannot have {} of type {}", value.IsMap() ? "values" : "elements",
                                   onnx_optim::TensorTypeName(type)));
    if (check.same_as < 0) continue;
    const TensorType first = TypeOf(ctx.input(check.same_as));
    if (first != type && first != TensorType::kUndefined)
      ctx.FailInput(i, fmt::format("must have the element type of {}, {}, got {}", ctx.InputSubject(check.same_as),
                                   onnx_optim::TensorTypeName(first), onnx_optim::TensorTypeName(type)));
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
