// SPDX-License-Identifier: Apache-2.0
#include "passes/cells/step_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "graph/node_attributes.h"

namespace ONNX_LIGHT_NAMESPACE::cells {
namespace {

using onnx_optim::OptimShape;

constexpr int kAbsent = GraphEdit::kAbsent;

struct Function {
  std::string_view type;
  float alpha = 0, beta = 0;  // where the node does not say
};
constexpr Function kFunctions[] = {{"Sigmoid"},
                                   {"Tanh"},
                                   {"Relu"},
                                   {"HardSigmoid", 0.2f, 0.5f},
                                   {"LeakyRelu", 0.01f},
                                   {"Elu", 1},
                                   {"ThresholdedRelu", 1},
                                   {"Softsign"},
                                   {"Softplus"}};

int64_t Axis(int64_t axis, const OptimShape& shape) {
  return axis < 0 && !shape.IsUnknown() ? axis + static_cast<int64_t>(shape.Rank()) : axis;
}
template <class Fn>
auto WithFloats(const Tensor& tensor, Fn fn) {
  if (tensor.dtype() == TensorType::kDouble) return fn(tensor.View<double>());
  if (tensor.dtype() != TensorType::kFloat) throw NotACell{"it has constants that are neither float nor double"};
  return fn(tensor.View<float>());
}

}  // namespace

StepReader::StepReader(const StepBody& steps, int like) : steps_(steps) {
  const auto rows = RowsOf({steps.body, like});
  if (!rows) throw NotACell{"the shape of " + Quoted({steps.body, like}) + " is not known"};
  if (rows->size() > 1) throw NotACell{Quoted({steps.body, like}) + " has more than one axis of rows"};
  rows_ = *rows;
}

std::string StepReader::Quoted(Place place) const { return fmt::format("\"{}\"", place.graph->name(place.value)); }

int64_t StepReader::Width(Place place) const {
  const OptimShape shape = place.graph->ShapeOf(place.value);
  if (shape.IsUnknown() || shape.Empty() || !shape.Dims().back().IsInt())
    throw NotACell{"the last dim of " + Quoted(place) + " is not known"};
  return shape.Dims().back().AsInt();
}

std::optional<StepReader::Rows> StepReader::RowsOf(Place place, int64_t without) const {
  const OptimShape shape = place.graph->ShapeOf(place.value);
  if (shape.IsUnknown() || shape.Empty()) return std::nullopt;
  Rows rows;
  for (size_t i = 0; i + 1 < shape.Rank(); ++i) {
    if (static_cast<int64_t>(i) == without) continue;
    // One that is declared as "?" may be any.
    if (const std::string* name = SymbolName(shape[i]); name != nullptr && *name == "?") return std::nullopt;
    if (!(shape[i] == OptimDim(1))) rows.push_back(shape[i]);
  }
  return rows;
}

Sum StepReader::Read(int value) {
  const Place place{steps_.body, value};
  return Read(place, {0, Width(place)});
}

Sum StepReader::ReadMade(int value, int through) {
  const Place place = steps_.Resolve({steps_.body, value});
  const int n = place.graph->producer(place.value);
  if (n == kAbsent) throw NotACell{"it uses " + Quoted(place)};
  through_ = through;
  depth_ = 0;
  Sum sum = ReadNode(place, n, {0, Width(place)});
  through_ = kAbsent;
  return sum;
}

int StepReader::WholeSymbol(int value) {
  const Place place{steps_.body, value};
  return Read(place, {0, Width(place)}).begin()->first.front();
}

std::optional<StepInput> StepReader::LeafAt(Place place) const {
  if (steps_.is_open && place.value != through_)
    if (const auto part = steps_.FixedPart(place); part && RowsOf({place.graph, part->value}, part->axis) == rows_)
      return part;
  const bool is_cut = steps_.cuts.contains(place.value) && place.value != through_;
  if (is_cut || steps_.CarriedAt(place) != nullptr) return StepInput{.value = place.value};
  return InputAt(place);
}

Sum StepReader::Read(Place place, Columns columns) {
  constexpr int kMaxDepth = 200;
  place = steps_.Resolve(place);
  const auto key = std::make_tuple(place, columns.begin, columns.width, through_);
  if (const auto it = read_.find(key); it != read_.end()) return it->second;
  if (place.graph != steps_.body)
    throw NotACell{fmt::format("it uses {}, which is the same in all steps and not constant", Quoted(place))};
  const auto rows = RowsOf(place);
  if (!rows || *rows != rows_)
    throw NotACell{fmt::format("the rows of {} are not known to be those of its states", Quoted(place))};
  if (depth_ > kMaxDepth) throw NotACell{"its nodes are too many in a row"};
  ++depth_;
  Sum sum;
  if (const auto leaf = LeafAt(place)) {
    const auto ahead = ReadAhead(*leaf, columns);
    sum = ahead ? *ahead : LeafColumns(*leaf, place, Width(place), columns);
  } else if (const int n = place.graph->producer(place.value); n != kAbsent) {
    sum = ReadNode(place, n, columns);
  } else if (steps_.is_open) {
    sum = LeafColumns({.value = place.value}, place, Width(place), columns);
  } else {
    throw NotACell{"it uses " + Quoted(place)};
  }
  --depth_;
  return read_.emplace(key, std::move(sum)).first->second;
}

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

Sum StepReader::ReadOperand(Place place, int64_t of, Columns columns) {
  if (place.value == kAbsent) throw NotACell{"a node has no input"};
  if (steps_.Constant(place).defined() && !steps_.cuts.contains(steps_.Resolve(place).value)) {
    const Tensor& tensor = steps_.Constant(place);
    const int64_t last = tensor.rank() == 0 ? 1 : tensor.dim(tensor.rank() - 1);
    if (last != tensor.NumElements() || (last != 1 && last != of))
      throw NotACell{fmt::format("{} is not one number for each column", Quoted(place))};
    return ReadConstant(place, columns);
  }
  if (Width(place) != of) throw NotACell{fmt::format("the columns of {} are used more than once", Quoted(place))};
  return Read(place, columns);
}

Sum StepReader::ReadConstant(Place place, Columns columns) {
  return WithFloats(steps_.Constant(place), [&](auto elements) -> Sum {
    const auto of = elements.size() == 1
                        ? elements
                        : elements.subspan(static_cast<size_t>(columns.begin), static_cast<size_t>(columns.width));
    const auto number = of.empty() ? 0.0 : static_cast<double>(of[0]);
    if (std::ranges::all_of(of, [&](auto element) { return static_cast<double>(element) == number; }))
      return number == 0 ? Sum() : Sum{{{}, number}};
    return {{{symbols_.Intern({.kind = Symbol::Kind::kVector,
                               .source = ConstantSource(place, false),
                               .column = columns.begin,
                               .width = columns.width})},
             1}};
  });
}

// Each step of some models has copies of its own.
int StepReader::ConstantSource(Place place, bool transposed) {
  const Tensor& tensor = steps_.Constant(place);
  const auto it = std::ranges::find_if(constants_, [&](const auto& entry) {
    const Tensor& other = steps_.Constant(entry.first);
    return entry.second == transposed && other.dtype() == tensor.dtype() && other.shape() == tensor.shape() &&
           (other.data() == tensor.data() || std::memcmp(other.data(), tensor.data(), tensor.ByteSize()) == 0);
  });
  if (it != constants_.end()) return static_cast<int>(it - constants_.begin());
  constants_.emplace_back(place, transposed);
  return static_cast<int>(constants_.size() - 1);
}

Sum StepReader::LeafColumns(const StepInput& leaf, Place place, int64_t width, Columns columns) {
  const auto it = std::ranges::find(leaves_, leaf);
  const auto source = static_cast<int>(it - leaves_.begin());
  if (it == leaves_.end()) {
    leaves_.push_back(leaf);
    leaf_values_.push_back(place.value);
    leaf_widths_.push_back(width);
  }
  return {{{symbols_.Intern({.source = source, .column = columns.begin, .width = columns.width})}, 1}};
}

std::optional<Sum> StepReader::ReadAhead(StepInput input, Columns columns) {
  if (input.axis == StepInput::kWhole) return std::nullopt;
  const GraphEdit& graph = *steps_.outer;
  Place place = steps_.Resolve({&graph, input.value});
  Sum added;
  for (;;) {
    const int n = graph.producer(place.value);
    if (n == kAbsent) return std::nullopt;
    if (graph.Is(n, "Transpose")) {
      const auto perm = NodeAttributes(graph.node(n)).FindInts("perm");
      if (!perm || static_cast<int64_t>(perm->size()) <= input.axis + 1 ||
          perm->back() + 1 != static_cast<int64_t>(perm->size()))
        return std::nullopt;
      input.axis = (*perm)[static_cast<size_t>(input.axis)];
      place = steps_.Resolve({&graph, graph.input(n, 0)});
      continue;
    }
    if (graph.Is(n, "MatMul")) {
      const Place left = steps_.Resolve({&graph, graph.input(n, 0)}), right{&graph, graph.input(n, 1)};
      const Tensor& matrix = steps_.Constant(right);
      if (matrix.rank() != 2 || RowsOf(left, input.axis) != rows_ ||
          graph.ShapeOf(left.value).Rank() != graph.ShapeOf(place.value).Rank() || matrix.dim(0) != Width(left))
        return std::nullopt;
      WithFloats(matrix, [](auto) {});
      input.value = left.value;
      const Sum operand = LeafColumns(input, {}, matrix.dim(0), {0, matrix.dim(0)});
      Add(added, {{{symbols_.Intern({.kind = Symbol::Kind::kMatMul,
                                     .source = ConstantSource(right, false),
                                     .column = columns.begin,
                                     .width = columns.width,
                                     .argument = operand.begin()->first})},
                   1}});
      return added;
    }
    if (!graph.Is(n, "Add")) return std::nullopt;
    const size_t constant = steps_.Constant({&graph, graph.input(n, 0)}).defined() ? 0 : 1;
    const Place vector{&graph, graph.input(n, constant)};
    if (!steps_.Constant(vector).defined() ||
        graph.ShapeOf(graph.input(n, 1 - constant)).Rank() != graph.ShapeOf(place.value).Rank())
      return std::nullopt;
    Add(added, ReadOperand(vector, Width(place), columns));
    place = steps_.Resolve({&graph, graph.input(n, 1 - constant)});
  }
}

std::optional<StepInput> StepReader::InputAt(Place place) const {
  const auto [graph, v] = place;
  if (steps_.is_open) return std::nullopt;
  if (const auto it = steps_.inputs.find(v); it != steps_.inputs.end()) return it->second;
  const int n = graph->producer(v);
  if (n == kAbsent || !graph->Is(n, "Gather")) return std::nullopt;
  const Place data = steps_.Resolve({graph, graph->input(n, 0)});
  if (!steps_.IsOuter(data)) return std::nullopt;
  const OptimShape shape = data.graph->ShapeOf(data.value);
  const int64_t axis = Axis(NodeAttributes(graph->node(n)).Int("axis", 0), shape);
  if (shape.IsUnknown() || axis < 0 || axis + 1 >= static_cast<int64_t>(shape.Rank())) return std::nullopt;
  const auto index = steps_.Number({graph, graph->input(n, 1)});
  if (!index) throw NotACell{fmt::format("it takes from {} at places not known", Quoted(data))};
  const bool forward = *index == StepNumber();
  if (!forward && !(*index == shape[static_cast<size_t>(axis)] - OptimDim(1) - StepNumber()))
    throw NotACell{fmt::format("it does not take all of {} in order", Quoted(data))};
  return StepInput{.value = data.value, .axis = axis, .reversed = !forward};
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
