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

int64_t Axis(int64_t axis, const OptimShape& shape) {
  return axis < 0 && !shape.IsUnknown() ? axis + static_cast<int64_t>(shape.Rank()) : axis;
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

}  // namespace ONNX_LIGHT_NAMESPACE::cells
