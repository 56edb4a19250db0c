// SPDX-License-Identifier: Apache-2.0
// Loop and Scan as steps of a recurrent operator.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "graph/node_attributes.h"
#include "passes/cells/operator_writer.h"
#include "passes/cells/step_lengths.h"
#include "passes/passes.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using cells::Carried;
using cells::NotACell;
using cells::StepBody;
using cells::StepOutput;

constexpr int kAbsent = GraphEdit::kAbsent;

std::string Quoted(const NodeProto& node) {
  if (!node.name().empty()) return fmt::format("{} node \"{}\"", node.op_type(), std::string_view(node.name()));
  return fmt::format("{} node of \"{}\"", node.op_type(),
                     node.output_size() == 0 ? "" : std::string_view(node.output(0)));
}

// A product and a function of gates: what is worth a word when it is no cell.
bool LooksLikeACell(const GraphProto& body) {
  const auto has = [&](std::initializer_list<std::string_view> types) {
    return std::ranges::any_of(body.node(), [&](const NodeProto& node) {
      return std::ranges::find(types, std::string_view(node.op_type())) != types.end();
    });
  };
  return has({"MatMul", "Gemm"}) && has({"Sigmoid", "Tanh", "HardSigmoid", "Clip", "Relu"});
}

class Recognising {
 public:
  Recognising(GraphEdit& edit, int n, GraphProto& graph)
      : edit_(edit), n_(n), node_(edit.node(n)), body_(graph, edit.captures(), &edit, edit.context()) {
    steps_.outer = &edit_;
    steps_.body = &body_;
  }

  // The note that says what became of it. Throws NotACell.
  std::string Run() {
    for (int m = 0; m < body_.node_size(); ++m)
      if (body_.op(m) == nullptr || body_.op(m)->random)
        throw NotACell{"it has nodes of type " + std::string(body_.node(m).op_type())};
    edit_.Is(n_, "Loop") ? ReadLoop() : ReadScan();
    const std::vector<int> states = States();
    cells::StepReader reader(steps_, Of(states[0]).in);
    FindLengths(states);
    // h' of an LSTM is one product, c' a sum of two.
    const bool h_first = states.size() == 1 || reader.Read(Next(Of(states[0]))).size() == 1;
    const Carried& hidden = Of(states[h_first ? 0 : 1]);
    const Carried* state = states.size() == 1 ? nullptr : &Of(states[h_first ? 1 : 0]);
    cells::Update update{.hidden = reader.WholeSymbol(hidden.in), .next_hidden = reader.Read(Next(hidden))};
    if (state != nullptr) update.state = reader.WholeSymbol(state->in), update.next_state = reader.Read(Next(*state));
    const cells::Cell cell = MatchCell(reader, update);
    const int64_t units = reader.symbols()[update.hidden].width;
    const cells::CellWeights weights = MakeWeights(reader, cell, body_.TypeOf(hidden.in), units);
    CheckSteps(weights);
    for (const StepOutput& output : steps_.outputs)
      if (reader.Read(BeforeLength(output.from)) != update.next_hidden)
        throw NotACell{fmt::format("its output \"{}\" is not the state h", body_.name(output.from))};
    for (const Carried& carried : steps_.carried)
      if (carried.result != kAbsent && &carried != &hidden && &carried != state && !steps_.IsInvariant(carried))
        throw NotACell{fmt::format("\"{}\" is used after it", edit_.name(carried.result))};
    Write(cell, weights, hidden, state);
    return fmt::format("{}: {}", Quoted(node_), Describe(cell, weights, weights.inputs[0].reversed));
  }

 private:
  const Carried& Of(int carried) const { return steps_.carried[static_cast<size_t>(carried)]; }
  int BodyInput(size_t i) const { return body_.Find(body_.graph().input(i).name()); }
  int BodyOutput(size_t i) const { return body_.Find(body_.graph().output(i).name()); }
  // A value of the graph around that somebody uses.
  int Wanted(size_t i) const {
    const int v = i < edit_.outputs(n_).size() ? edit_.outputs(n_)[i] : kAbsent;
    return v != kAbsent && (edit_.IsPinned(v) || !edit_.users(v).empty()) ? v : kAbsent;
  }
  void AddOutput(size_t from, size_t to, int64_t axis, bool reversed) {
    if (Wanted(to) != kAbsent) steps_.outputs.push_back({BodyOutput(from), Wanted(to), axis, reversed});
  }

  // What the state becomes in steps before the length of a row.
  int Next(const Carried& state) const {
    const auto by = ReadByLength(steps_, state.next);
    return by && steps_.Resolve({&body_, by->otherwise}) == cells::Place{&body_, state.in} ? by->chosen : state.next;
  }
  void FindLengths(const std::vector<int>& states) {
    std::vector<std::optional<cells::Lengths>> all;
    for (const int state : states) {
      const bool is_bounded = Next(Of(state)) != Of(state).next;
      all.push_back(is_bounded ? std::optional(ReadByLength(steps_, Of(state).next)->lengths) : std::nullopt);
    }
    if (all.front() != all.back()) throw NotACell{"its states go on for different numbers of steps"};
    lengths_ = all.front();
  }
  // Of an output that is 0 past the length of a row: what it is before. Of others the value, where rows have no
  // lengths.
  int BeforeLength(int output) const {
    if (!lengths_) return output;
    const auto by = ReadByLength(steps_, output);
    if (!by || by->lengths != *lengths_ || !steps_.IsZero({&body_, by->otherwise}))
      throw NotACell{"its output past the length of a row is not 0"};
    return by->chosen;
  }

  // Of a sequence, empty at first, to whose end each step adds something: what that is. kAbsent for all else.
  int AddedTo(const Carried& value) const {
    const int n = body_.producer(value.next), first = edit_.producer(value.initial);
    const bool is_sequence = n != kAbsent && body_.Is(n, "SequenceInsert") && body_.input(n, 0) == value.in &&
                             body_.input(n, 2) == kAbsent && first != kAbsent && edit_.Is(first, "SequenceEmpty");
    return is_sequence ? body_.input(n, 1) : kAbsent;
  }

  void ReadLoop() {
    const size_t inputs = edit_.inputs(n_).size(), carried = std::max<size_t>(inputs, 2) - 2;
    if (body_.graph().input().size() != carried + 2 || body_.graph().output().size() < carried + 1 ||
        edit_.outputs(n_).size() + 1 != body_.graph().output().size())
      throw NotACell{"node and body do not fit"};
    steps_.iteration = BodyInput(0);
    steps_.condition = BodyInput(1);
    for (size_t i = 0; i < carried; ++i) {
      const Carried value{BodyInput(i + 2), BodyOutput(i + 1), edit_.inputs(n_)[i + 2], Wanted(i)};
      if (const int added = AddedTo(value); added == kAbsent) {
        steps_.carried.push_back(value);
      } else if (value.result != kAbsent) {
        steps_.outputs.push_back({added, value.result, 0, false, true});
      }
    }
    for (size_t i = carried + 1; i < body_.graph().output().size(); ++i) AddOutput(i, i - 1, 0, false);
  }

  void ReadScan() {
    constexpr int64_t kNoBatch = 9;
    if (edit_.opset() < kNoBatch) throw NotACell{"a Scan of version 8 has a batch of its own"};
    const NodeAttributes attributes(node_);
    const auto scanned = static_cast<size_t>(attributes.Int("num_scan_inputs"));
    const size_t inputs = edit_.inputs(n_).size();
    const size_t carried = inputs - std::min(scanned, inputs);
    if (body_.graph().input().size() != inputs || body_.graph().output().size() != edit_.outputs(n_).size() ||
        body_.graph().output().size() < carried)
      throw NotACell{"node and body do not fit"};
    const auto at = [&](std::string_view name, size_t i) {
      const std::vector<int64_t> all = attributes.Ints(name);
      return i < all.size() ? all[i] : 0;
    };
    for (size_t i = 0; i < carried; ++i)
      steps_.carried.push_back({BodyInput(i), BodyOutput(i), edit_.inputs(n_)[i], Wanted(i)});
    for (size_t i = carried; i < inputs; ++i) {
      const int v = edit_.inputs(n_)[i];
      const onnx_optim::OptimShape shape = edit_.ShapeOf(v);
      const auto rank = static_cast<int64_t>(shape.Rank());
      int64_t axis = at("scan_input_axes", i - carried);
      if (axis < 0) axis += rank;
      if (shape.IsUnknown() || axis < 0 || axis + 1 >= rank) throw NotACell{"it takes no rows"};
      steps_.inputs[BodyInput(i)] = {
          .value = v, .axis = axis, .reversed = at("scan_input_directions", i - carried) != 0};
    }
    for (size_t i = carried; i < body_.graph().output().size(); ++i) {
      int64_t axis = at("scan_output_axes", i - carried);
      const auto rank = static_cast<int64_t>(body_.ShapeOf(BodyOutput(i)).Rank());
      if (axis < 0) axis += rank + 1;
      if (axis < 0 || axis > rank) throw NotACell{"it has an output along no axis"};
      AddOutput(i, i, axis, at("scan_output_directions", i - carried) != 0);
    }
  }

  // What is carried and changes, but for numbers that count.
  std::vector<int> States() const {
    std::vector<int> states;
    for (size_t c = 0; c < steps_.carried.size(); ++c) {
      const Carried& carried = steps_.carried[c];
      const TensorType type = body_.TypeOf(carried.in);
      const bool is_float = type == TensorType::kFloat || type == TensorType::kDouble;
      if (is_float && !steps_.IsInvariant(carried)) states.push_back(static_cast<int>(c));
      if (type == TensorType::kFloat16 || type == TensorType::kBfloat16) throw NotACell{"its states are half floats"};
    }
    if (states.empty() || states.size() > 2) throw NotACell{fmt::format("it has {} states", states.size())};
    return states;
  }

  void CheckSteps(const cells::CellWeights& weights) const {
    std::vector<cells::StepInput> inputs = weights.inputs;
    if (inputs.empty()) throw NotACell{"it has no inputs"};
    for (const auto& scanned : steps_.inputs) inputs.push_back(scanned.second);
    const auto steps_of = [&](const cells::StepInput& input) {
      return edit_.ShapeOf(input.value)[static_cast<size_t>(input.axis)];
    };
    const OptimDim count = steps_of(inputs[0]);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!(steps_of(inputs[i]) == count)) throw NotACell{"its inputs are not known to have the same number of steps"};
      if (i < weights.inputs.size() && inputs[i].reversed != inputs[0].reversed)
        throw NotACell{"its inputs are in different orders"};
    }
    if (edit_.Is(n_, "Loop")) CheckIterations(steps_, edit_.input(n_, 0), edit_.input(n_, 1), BodyOutput(0), count);
  }

  void CheckShapes(bool reversed, const Carried& hidden, const Carried* state) const {
    if (lengths_ && reversed) throw NotACell{"its rows have lengths, and it goes backwards"};
    const bool turns =
        std::ranges::any_of(steps_.outputs, [&](const StepOutput& output) { return output.reversed != reversed; });
    const int64_t needed = lengths_ ? cells::OperatorWriter::kLeastOpsetForLengths
                           : turns  ? cells::OperatorWriter::kLeastOpsetToReverse
                                    : cells::OperatorWriter::kLeastOpset;
    if (edit_.opset() < needed) throw NotACell{fmt::format("operators before version {} are not written", needed)};
    for (const Carried* carried : {&hidden, state})
      if (carried != nullptr && edit_.ShapeOf(carried->initial).Empty())
        throw NotACell{fmt::format("the shape of \"{}\" is not known", edit_.name(carried->initial))};
  }

  void Write(const cells::Cell& cell, const cells::CellWeights& weights, const Carried& hidden, const Carried* state) {
    const bool reversed = weights.inputs[0].reversed;
    CheckShapes(reversed, hidden, state);
    cells::OperatorWriter writer(edit_);
    std::vector<int> inputs;
    for (const cells::StepInput& input : weights.inputs) inputs.push_back(writer.Input(input));
    const int x = writer.SideBySide(inputs), lengths = lengths_ ? writer.Lengths(lengths_->value, x) : kAbsent;
    const auto made =
        writer.Operator(node_.name(), cell, weights,
                        {x, hidden.initial, state == nullptr ? kAbsent : state->initial, reversed, lengths},
                        {steps_.outputs.empty() ? kAbsent : steps_.outputs[0].to, hidden.result,
                         state == nullptr ? kAbsent : state->result});
    for (const StepOutput& output : steps_.outputs) {
      const onnx_optim::OptimShape shape = body_.ShapeOf(output.from);
      const bool turned = output.reversed != reversed;
      output.is_sequence ? writer.GiveSequence(made.all, shape, turned, output.to)
                         : writer.GiveAll(made.all, shape, output.axis, turned, output.to);
    }
    const auto give = [&](int last, const Carried& carried) {
      if (lengths_) last = writer.OrInitial(lengths, last, carried.initial, weights.hidden_size);
      writer.GiveLast(last, body_.ShapeOf(carried.in), carried.result);
    };
    if (made.hidden != kAbsent) give(made.hidden, hidden);
    if (made.state != kAbsent) give(made.state, *state);
    for (const Carried& carried : steps_.carried)
      if (carried.result != kAbsent && steps_.IsInvariant(carried)) writer.GiveSame(carried.initial, carried.result);
    edit_.Remove(n_);
  }

  GraphEdit& edit_;
  int n_;
  const NodeProto& node_;
  GraphEdit body_;
  StepBody steps_;
  std::optional<cells::Lengths> lengths_;
};

}  // namespace

int64_t RecogniseCells(GraphEdit& edit) {
  int64_t recognised = 0;
  const int nodes = edit.node_size();
  for (int n = 0; n < nodes; ++n) {
    if (!edit.Is(n, "Loop") && !edit.Is(n, "Scan")) continue;
    const auto& note = edit.context().note;
    std::string text;
    try {
      NodeProto& node = edit.mutable_node(n);
      const auto body = std::ranges::find(
          node.attribute(), "body", [](const AttributeProto& attribute) { return std::string_view(attribute.name()); });
      if (body == node.attribute().end() || !body->has_g() || !LooksLikeACell(body->g())) continue;
      text = Quoted(node);
      text = Recognising(edit, n, body->ref_g()).Run();
      ++recognised;
    } catch (const NotACell& reason) {
      text += " stays: " + reason.why;
    } catch (const std::exception&) {
      continue;  // planning says what is wrong
    }
    if (note) note(std::move(text));
  }
  return recognised;
}

}  // namespace ONNX_LIGHT_NAMESPACE
