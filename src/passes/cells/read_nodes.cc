// SPDX-License-Identifier: Apache-2.0
// What nodes of each type make of the columns they are asked for.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "graph/node_attributes.h"
#include "passes/cells/step_reader.h"

namespace ONNX_LIGHT_NAMESPACE::cells {
namespace {

using onnx_optim::OptimShape;

constexpr int kAbsent = GraphEdit::kAbsent;

struct Function {
  std::string_view type;
  float alpha = 0, beta = 0;  // where the node does not say
};
constexpr Function kFunctions[] = {{"Sigmoid"},          {"Tanh"},   {"Relu"},     {"HardSigmoid", 0.2f, 0.5f},
                                   {"LeakyRelu", 0.01f}, {"Elu", 1}, {"Softsign"}, {"Softplus"}};

}  // namespace

Sum StepReader::ReadNode(Place place, int n, Columns columns) {
  const GraphEdit& graph = *place.graph;
  const auto input = [&](size_t i) { return Place{&graph, graph.input(n, i)}; };
  const auto operand = [&](size_t i) { return ReadOperand(input(i), Width(place), columns); };
  if (graph.Is(n, "Add") || graph.Is(n, "Sub") || graph.Is(n, "Sum")) {
    Sum sum = operand(0);
    for (size_t i = 1; i < graph.inputs(n).size(); ++i) Add(sum, operand(i), graph.Is(n, "Sub") ? -1 : 1);
    return sum;
  }
  if (graph.Is(n, "Neg")) return Multiply(operand(0), {{{}, -1}});
  if (graph.Is(n, "Mul")) return Multiply(operand(0), operand(1));
  if (graph.Is(n, "MatMul")) return ReadMatMul(place, graph.input(n, 0), graph.input(n, 1), false, columns);
  if (graph.Is(n, "Gemm")) return ReadGemm(place, n, columns);
  if (graph.Is(n, "Split") || graph.Is(n, "Slice")) return ReadSlice(place, n, columns);
  if (graph.Is(n, "Concat")) return ReadConcat(place, n, columns);
  if (graph.Is(n, "Clip")) return ReadClip(place, n, columns);
  if (graph.Is(n, "Transpose")) {
    // Rows lie along one axis: where it is does not matter.
    const auto perm = NodeAttributes(graph.node(n)).FindInts("perm");
    if (!perm || perm->empty() || perm->back() + 1 != static_cast<int64_t>(perm->size()))
      throw NotACell{"it transposes columns"};
    return operand(0);
  }
  for (const std::string_view same : {"Reshape", "Squeeze", "Unsqueeze", "Flatten"})
    if (graph.Is(n, same)) return operand(0);
  return ReadCall(place, n, columns);
}

Sum StepReader::ReadMatMul(Place place, int left, int right, bool transposed, Columns columns) {
  const GraphEdit& graph = *place.graph;
  Place matrix = steps_.Resolve({&graph, right});
  // No copy of a matrix only to turn it.
  if (const int n = matrix.graph->producer(matrix.value); n != kAbsent && matrix.graph->Is(n, "Transpose")) {
    const Place turned{matrix.graph, matrix.graph->input(n, 0)};
    const std::vector<int64_t> kTurn{1, 0};
    if (steps_.Constant(turned).rank() == 2 &&
        NodeAttributes(matrix.graph->node(n)).FindInts("perm").value_or(kTurn) == kTurn) {
      matrix = turned;
      transposed = !transposed;
    }
  }
  const Tensor& tensor = steps_.Constant(matrix);
  if (!tensor.defined()) throw NotACell{fmt::format("{} is a product whose right side is not constant", Quoted(place))};
  const int rank = tensor.rank();
  if (rank < 2 || tensor.dim(rank - 1) * tensor.dim(rank - 2) != tensor.NumElements())
    throw NotACell{fmt::format("{} is no product with one matrix", Quoted(place))};
  const int64_t rows = tensor.dim(transposed ? rank - 1 : rank - 2), of = tensor.dim(transposed ? rank - 2 : rank - 1);
  if (Width(place) != of) throw NotACell{fmt::format("{} is no product with one matrix", Quoted(place))};
  WithFloats(tensor, [](auto) {});
  const int source = ConstantSource(matrix, transposed);
  Sum sum;
  int64_t row = 0;
  for (const Place& part : steps_.Parts({&graph, left})) {
    const int64_t width = Width(part);
    for (const auto& [product, number] : Read(part, {0, width})) {
      const bool varies =
          std::ranges::any_of(product, [&](int symbol) { return symbols_[symbol].kind != Symbol::Kind::kVector; });
      if (!varies) throw NotACell{fmt::format("{} is a product with a constant", Quoted(place))};
      const int symbol = symbols_.Intern({.kind = Symbol::Kind::kMatMul,
                                          .source = source,
                                          .row = row,
                                          .column = columns.begin,
                                          .width = columns.width,
                                          .argument = product});
      Add(sum, {{{symbol}, number}});
    }
    row += width;
  }
  if (row != rows) throw NotACell{fmt::format("{} is no product with one matrix", Quoted(place))};
  return sum;
}

Sum StepReader::ReadGemm(Place place, int n, Columns columns) {
  const GraphEdit& graph = *place.graph;
  const NodeAttributes attributes(graph.node(n));
  if (attributes.Int("transA", 0) != 0) throw NotACell{"it transposes rows"};
  const bool transposed = attributes.Int("transB", 0) != 0;
  Sum sum;
  Add(sum, ReadMatMul(place, graph.input(n, 0), graph.input(n, 1), transposed, columns),
      static_cast<double>(attributes.Float("alpha", 1)));
  if (const int added = graph.input(n, 2); added != kAbsent)
    Add(sum, ReadOperand({&graph, added}, Width(place), columns), static_cast<double>(attributes.Float("beta", 1)));
  return sum;
}

Sum StepReader::ReadSlice(Place place, int n, Columns columns) {
  const GraphEdit& graph = *place.graph;
  const Place data{&graph, graph.input(n, 0)};
  const OptimShape shape = graph.ShapeOf(data.value);
  const NodeAttributes attributes(graph.node(n));
  if (graph.Is(n, "Split")) {
    if (!IsLastAxis(attributes.Int("axis", 0), shape)) throw NotACell{"it splits rows"};
    for (const int output : graph.outputs(n)) {
      if (output == place.value) break;
      if (output == kAbsent) throw NotACell{"a part of a Split has no name"};
      columns.begin += Width({&graph, output});
    }
    return Read(data, columns);
  }
  // The same columns from each row: as inputs from version 10 on, as attributes before.
  const auto ints = [&](size_t i, std::string_view name) -> std::vector<int64_t> {
    if (graph.inputs(n).size() == 1) return attributes.Ints(name);
    if (graph.input(n, i) == kAbsent) return {};
    const Tensor& tensor = steps_.Constant({&graph, graph.input(n, i)});
    if (tensor.dtype() == TensorType::kInt64) {
      const auto view = tensor.View<int64_t>();
      return {view.begin(), view.end()};
    }
    if (tensor.dtype() != TensorType::kInt32) throw NotACell{"a Slice has bounds that are not constant"};
    const auto view = tensor.View<int32_t>();
    return {view.begin(), view.end()};
  };
  const auto starts = ints(1, "starts"), axes = ints(3, "axes"), steps = ints(4, "steps");
  if (starts.size() != 1 || axes.size() != 1 || !IsLastAxis(axes[0], shape) || (!steps.empty() && steps[0] != 1))
    throw NotACell{"it has a Slice that is not of adjacent columns"};
  const int64_t all = Width(data);
  columns.begin += std::clamp<int64_t>(starts[0] < 0 ? starts[0] + all : starts[0], 0, all);
  return Read(data, columns);
}

Sum StepReader::ReadConcat(Place place, int n, Columns columns) {
  if (!IsLastAxis(NodeAttributes(place.graph->node(n)).Int("axis"), place.graph->ShapeOf(place.value)))
    throw NotACell{"it puts rows together"};
  for (const Place& part : steps_.Parts(place)) {
    const int64_t width = Width(part);
    if (columns.begin >= 0 && columns.begin + columns.width <= width) return Read(part, columns);
    columns.begin -= width;
  }
  throw NotACell{fmt::format("the parts of {} are not those of a cell", Quoted(place))};
}

Sum StepReader::ReadCall(Place place, int n, Columns columns) {
  const GraphEdit& graph = *place.graph;
  const auto function =
      std::ranges::find_if(kFunctions, [&](const Function& candidate) { return graph.Is(n, candidate.type); });
  if (function == std::end(kFunctions) && steps_.is_open)
    return LeafColumns({.value = place.value}, place, Width(place), columns);
  if (function == std::end(kFunctions))
    throw NotACell{fmt::format("{} is made by a node of type {}", Quoted(place), graph.node(n).op_type())};
  const NodeAttributes attributes(graph.node(n));
  Symbol call{.kind = Symbol::Kind::kCall, .width = columns.width, .function = std::string(function->type)};
  if (function->alpha != 0) call.alpha = attributes.Float("alpha", function->alpha);
  if (function->beta != 0) call.beta = attributes.Float("beta", function->beta);
  call.sum = Read({&graph, graph.input(n, 0)}, columns);
  return {{{symbols_.Intern(std::move(call))}, 1}};
}

// HardSigmoid as some spell it: alpha x + beta, bounded by 0 and 1. What beta is more than a half goes into x.
Sum StepReader::ReadClip(Place place, int n, Columns columns) {
  const GraphEdit& graph = *place.graph;
  const NodeAttributes attributes(graph.node(n));
  const auto bound = [&](size_t i, std::string_view name) -> double {
    if (graph.inputs(n).size() == 1) return static_cast<double>(attributes.Float(name, -1));
    if (graph.input(n, i) == kAbsent) return -1;
    const Tensor& tensor = steps_.Constant({&graph, graph.input(n, i)});
    return tensor.NumElements() != 1 || !tensor.defined()
               ? -1
               : WithFloats(tensor, [](auto elements) { return static_cast<double>(elements[0]); });
  };
  if (bound(1, "min") != 0 || bound(2, "max") != 1) throw NotACell{"it has a Clip to other bounds than 0 and 1"};
  Sum sum = Read({&graph, graph.input(n, 0)}, columns);
  double alpha = 0;
  for (const auto& [product, number] : sum) {
    if (product.size() != 1 || symbols_[product[0]].kind != Symbol::Kind::kMatMul) continue;
    if (alpha != 0 && number != alpha) throw NotACell{"it has a Clip of a sum with several scales"};
    alpha = number;
  }
  if (alpha == 0) throw NotACell{"it has a Clip of something else than a product"};
  Add(sum, {{{}, -0.5}});
  return {{{symbols_.Intern({.kind = Symbol::Kind::kCall,
                             .width = columns.width,
                             .function = "HardSigmoid",
                             .alpha = static_cast<float>(alpha),
                             .beta = 0.5f,
                             .sum = Multiply(sum, {{{}, 1 / alpha}})})},
           1}};
}

}  // namespace ONNX_LIGHT_NAMESPACE::cells
