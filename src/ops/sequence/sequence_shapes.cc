// SPDX-License-Identifier: Apache-2.0
#include "ops/sequence/sequence_shapes.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace ONNX_LIGHT_NAMESPACE {

void RequireOutput(const InferScope& scope) {
  if (scope.output_size() == 0) scope.Fail({}, "has no output");
}

SequenceInfo RequireSequence(InferScope& scope, int i) {
  if (!scope.HasInput(i)) scope.Fail(scope.InputSubject(i), "is required");
  if (!scope.IsDefined(i)) scope.FailMissing(scope.InputSubject(i), "is not defined");
  const ShapeValue& value = scope.SequenceInput(i);
  if (value.IsSequence()) return value.SequenceOf();
  if (!value.IsUnknown()) {
    scope.FailMissing(scope.InputSubject(i), fmt::format("must be a sequence, got {}", InferScope::Describe(value)));
  }
  return SequenceInfo::Summary(scope.Fresh("len"), ShapeValue());
}

ShapeValue RequireTensor(const InferScope& scope, int i) {
  if (!scope.HasInput(i)) scope.Fail(scope.InputSubject(i), "is required");
  if (!scope.IsDefined(i)) scope.FailMissing(scope.InputSubject(i), "is not defined");
  const ShapeValue& value = scope.Input(i);
  if (!value.IsTensor() && !value.IsUnknown()) {
    scope.FailMissing(scope.InputSubject(i), fmt::format("must be a tensor, got {}", InferScope::Describe(value)));
  }
  return value;
}

std::optional<int64_t> KnownPosition(const InferScope& scope, int i) {
  if (!scope.exact()) return std::nullopt;
  const std::optional<std::vector<int64_t>> position = scope.InputInts(i);
  if (!position || position->size() != 1) return std::nullopt;
  return position->front();
}

int64_t CheckedPosition(const InferScope& scope, int input, int64_t position, int64_t length, int64_t extra) {
  if (position < -length || position >= length + extra) {
    const std::string fact = length + extra == 0
                                 ? fmt::format("is {}, but the sequence is empty", position)
                                 : fmt::format("is {}, not in [{}, {}]", position, -length, length - 1 + extra);
    scope.Fail(scope.InputSubject(input), fact);
  }
  return position < 0 ? position + length : position;
}

ShapeValue PlainTensor(const ShapeValue& value) {
  return ShapeValue::Tensor(value.IsTensor() ? value.Dtype() : TensorType::kUndefined,
                            value.IsTensor() ? value.Shape() : OptimShape::Unknown());
}

ShapeValue PlainSequence(TensorType dtype, OptimDim length) {
  return ShapeValue::Sequence(
      SequenceInfo::Summary(std::move(length), ShapeValue::Tensor(dtype, OptimShape::Unknown())));
}

ShapeValue AnyElement(InferScope& scope, const SequenceInfo& info) {
  ShapesContext& ctx = scope.context();
  if (info.elements && !info.elements->empty()) return JoinAll(*info.elements, ctx);
  const ShapeValue element = info.AnyElement(ctx);
  return element.IsTensor() ? element : ShapeValue::Tensor(info.ElemDtype(), OptimShape::Unknown());
}

int64_t FreshNumber(const std::string& symbol) {
  if (!onnx_optim::IsFresh(OptimDim::Symbol(symbol))) return -1;
  const size_t begin = symbol.rfind('_') + 1;
  int64_t number = -1;
  std::from_chars(symbol.data() + begin, symbol.data() + symbol.size(), number);
  return number;
}

OptimDim OtherInstance::Of(const OptimDim& dim) {
  return onnx_optim::Substitute(dim, [&](const std::string& symbol) -> std::optional<OptimDim> {
    if (FreshNumber(symbol) < mark_) return std::nullopt;
    const auto it = renamed_.find(symbol);
    if (it != renamed_.end()) return it->second;
    return renamed_.emplace(symbol, ctx_.FreshDim({}, ctx_.Bounds(OptimDim::Symbol(symbol)))).first->second;
  });
}

ShapeValue OtherInstance::Of(const ShapeValue& value) {
  return MapDims(value, [&](const OptimDim& dim) { return Of(dim); });
}

}  // namespace ONNX_LIGHT_NAMESPACE
