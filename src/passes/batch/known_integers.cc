// SPDX-License-Identifier: Apache-2.0
#include "passes/batch/known_integers.h"

#include <algorithm>
#include <vector>

#include "model/set_attribute.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using onnx_optim::Substitute;
using onnx_optim::shapes::ShapeValue;

// Each element is base + factor * symbol.
struct Linear {
  std::vector<int64_t> base, factor;
  std::optional<std::string> symbol;  // none: the factors are 0
};

std::optional<Linear> LinearIn(const onnx_optim::shapes::KnownElements& elements) {
  Linear linear;
  for (const std::optional<OptimDim>& element : elements) {
    if (!element) return std::nullopt;
    const std::vector<std::string> symbols = onnx_optim::Symbols(*element);
    if (symbols.size() > 1 || (symbols.size() == 1 && linear.symbol && *linear.symbol != symbols[0]))
      return std::nullopt;
    if (symbols.size() == 1) linear.symbol = symbols[0];
    const OptimDim at_0 = symbols.empty() ? *element : Substitute(*element, symbols[0], OptimDim(0));
    const OptimDim at_1 = symbols.empty() ? *element : Substitute(*element, symbols[0], OptimDim(1));
    if (!at_0.IsInt() || !at_1.IsInt()) return std::nullopt;
    const int64_t base = at_0.AsInt(), factor = at_1.AsInt() - base;
    if (!symbols.empty() && OptimDim(base) + OptimDim(factor) * OptimDim::Symbol(symbols[0]) != *element)
      return std::nullopt;
    linear.base.push_back(base);
    linear.factor.push_back(factor);
  }
  return linear;
}

}  // namespace

std::optional<KnownIntegers> EmitKnownIntegers(BatchGraph& graph, const std::string& name, const ShapeValue& value) {
  if (!value.IsTensor() || (value.Dtype() != TensorType::kInt64 && value.Dtype() != TensorType::kInt32) ||
      !value.HasFullValue() || !value.Shape().IsFullyKnown() || value.Elements() == nullptr)
    return std::nullopt;
  const std::optional<Linear> linear = LinearIn(*value.Elements());
  if (!linear) return std::nullopt;
  std::vector<int64_t> dims;
  for (const OptimDim& dim : value.Shape()) dims.push_back(dim.AsInt());
  const auto constant = [&](const std::vector<int64_t>& values) {
    Tensor tensor(TensorType::kInt64, Shape(std::span<const int64_t>(dims)));
    std::ranges::copy(values, tensor.MutableView<int64_t>().begin());
    std::string made = graph.NewName(name);
    *graph.graph().add_initializer() = TensorToProto(tensor, made);
    return made;
  };
  const auto typed = [&](std::string made) {
    if (value.Dtype() == TensorType::kInt64) return made;
    return graph.Emit("Cast", {made}, [&](NodeProto& cast) { SetInt(cast, "to", TensorProto::INT32); });
  };
  if (!linear->symbol) {
    graph.Node("Identity", {typed(constant(linear->base))}, {name});
    return KnownIntegers{BatchForm::kUniform, name};
  }
  std::string lengths = graph.Lengths(OptimDim::Symbol(*linear->symbol));
  if (lengths.empty()) return std::nullopt;
  if (!dims.empty()) {
    std::vector<int64_t> column(dims.size() + 1, 1);
    column[0] = -1;
    lengths = graph.Emit("Reshape", {lengths, graph.Ints(column)});
  }
  return KnownIntegers{
      BatchForm::kStacked,
      typed(graph.Emit("Add", {graph.Emit("Mul", {lengths, constant(linear->factor)}), constant(linear->base)}))};
}

}  // namespace ONNX_LIGHT_NAMESPACE
