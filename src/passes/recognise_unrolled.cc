// SPDX-License-Identifier: Apache-2.0
// Steps that stand one after the other in a graph as one recurrent operator.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/node_attributes.h"
#include "passes/cells/operator_writer.h"
#include "passes/cells/unrolled_steps.h"
#include "passes/passes.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using cells::StepInput;
using cells::UnrolledStep;

constexpr int kAbsent = GraphEdit::kAbsent;

class Replacing {
 public:
  Replacing(GraphEdit& edit, const std::vector<UnrolledStep>& steps) : edit_(edit), steps_(steps) {}

  // The note that says so. Throws NotACell, before anything is changed.
  std::string Run() {
    const UnrolledStep &first = steps_.front(), &last = steps_.back();
    if (edit_.opset() < cells::OperatorWriter::kLeastOpset)
      throw cells::NotACell{
          fmt::format("operators before version {} are not written", cells::OperatorWriter::kLeastOpset)};
    const TensorType type = edit_.TypeOf(last.hidden);
    if (type != TensorType::kFloat && type != TensorType::kDouble) throw cells::NotACell{"its states are half floats"};
    FindStack();
    FindDead();
    CheckOrder();
    for (size_t t = 0; t < steps_.size(); ++t)
      if (steps_[t].state != kAbsent && t + 1 < steps_.size() && IsWanted(steps_[t].state))
        throw cells::NotACell{"a state c is used outside"};
    const cells::CellWeights weights = MakeWeights(*last.reader, last.cell, type, last.units);

    std::vector<std::vector<StepInput>> taken;
    for (const int leaf : weights.leaves) {
      const auto which = std::ranges::find(last.inputs, leaf) - last.inputs.begin();
      taken.emplace_back();
      for (const UnrolledStep& step : steps_)
        taken.back().push_back(step.reader->leaf(step.inputs[static_cast<size_t>(which)]));
    }
    const bool reversed = std::ranges::all_of(taken, [&](const auto& of) { return IsWhole(of, true); });
    if (stack_.concat != kAbsent && stack_.backwards != reversed &&
        edit_.opset() < cells::OperatorWriter::kLeastOpsetToReverse)
      throw cells::NotACell{
          fmt::format("operators before version {} are not written", cells::OperatorWriter::kLeastOpsetToReverse)};
    for (size_t i = 0; i < taken.size(); ++i) {
      const auto which = static_cast<size_t>(std::ranges::find(last.inputs, weights.leaves[i]) - last.inputs.begin());
      for (const UnrolledStep& step : steps_)
        if (step.reader->LeafWidth(step.inputs[which]) != last.reader->LeafWidth(weights.leaves[i]))
          throw cells::NotACell{"its steps take inputs of different widths"};
    }
    cells::OperatorWriter writer(edit_);
    std::vector<int> inputs;
    for (size_t i = 0; i < taken.size(); ++i)
      inputs.push_back(IsWhole(taken[i], reversed) ? writer.Input(taken[i][0])
                                                   : writer.Stack(taken[i], last.reader->LeafWidth(weights.leaves[i])));
    std::vector<size_t> wanted;
    for (size_t t = 0; t < steps_.size(); ++t)
      if (IsWanted(steps_[t].hidden)) wanted.push_back(t);
    const bool only_last =
        stack_.concat == kAbsent && (wanted.empty() || (wanted.size() == 1 && wanted[0] + 1 == steps_.size()));
    const bool state = last.state != kAbsent && IsWanted(last.state);
    const auto made = writer.Operator(
        edit_.node(edit_.producer(last.hidden)).name(), last.cell, weights,
        {writer.SideBySide(inputs), first.hidden_before, first.state_before, reversed},
        {only_last ? kAbsent : last.hidden, only_last ? last.hidden : kAbsent, state ? last.state : kAbsent});
    const auto give = [&](int v, auto how) {
      const int maker = edit_.producer(v);
      how();
      edit_.Remove(maker);
    };
    for (const size_t t : wanted) {
      const int v = steps_[t].hidden;
      const OptimShape shape = edit_.ShapeOf(v);
      const size_t place = reversed ? steps_.size() - 1 - t : t;
      give(v, [&] {
        only_last ? writer.GiveLast(made.hidden, shape, v)
                  : writer.GiveStep(made.all, static_cast<int64_t>(place), shape, v);
      });
    }
    if (stack_.concat != kAbsent) {
      const int all = edit_.outputs(stack_.concat)[0];
      give(all, [&] { writer.GiveAll(made.all, stack_.each, stack_.axis, stack_.backwards != reversed, all); });
    }
    if (state) give(last.state, [&] { writer.GiveLast(made.state, edit_.ShapeOf(last.state), last.state); });
    return fmt::format("{} steps up to \"{}\": {}", steps_.size(), edit_.name(last.hidden),
                       Describe(last.cell, weights, reversed));
  }

 private:
  // The steps take all of one value, in order or, `reversed`, from its end.
  bool IsWhole(const std::vector<StepInput>& taken, bool reversed) const {
    const auto count = static_cast<int64_t>(taken.size());
    const StepInput& first = taken[0];
    if (first.axis == StepInput::kWhole ||
        !(edit_.ShapeOf(first.value)[static_cast<size_t>(first.axis)] == OptimDim(count)))
      return false;
    for (int64_t t = 0; t < count; ++t) {
      StepInput wanted = first;
      wanted.index = reversed ? count - 1 - t : t;
      if (!(taken[static_cast<size_t>(t)] == wanted)) return false;
    }
    return true;
  }

  // A Concat of all h, each with an axis of size 1 for it, in order or from the last one to the first.
  void FindStack() {
    const auto find = [&](int part) {
      for (const int user : edit_.users(part))
        if (edit_.Is(user, "Concat") && edit_.inputs(user).size() == steps_.size()) return user;
      return kAbsent;
    };
    for (const int part : Parts(steps_[0].hidden)) {
      const int concat = find(part);
      const OptimShape shape = edit_.ShapeOf(part);
      if (concat == kAbsent || shape.IsUnknown()) continue;
      const auto rank = static_cast<int64_t>(shape.Rank());
      int64_t axis = NodeAttributes(edit_.node(concat)).Int("axis");
      if (axis < 0) axis += rank;
      if (axis < 0 || axis + 1 >= rank || !(shape[static_cast<size_t>(axis)] == OptimDim(1))) continue;
      std::vector<OptimDim> each = shape.Dims();
      each.erase(each.begin() + axis);
      for (const bool backwards : {false, true}) {
        bool all = true;
        for (size_t t = 0; t < steps_.size() && all; ++t) {
          const int v = edit_.inputs(concat)[backwards ? steps_.size() - 1 - t : t];
          const std::vector<int> parts = Parts(steps_[t].hidden);
          all = std::ranges::find(parts, v) != parts.end() && SameShape(edit_.ShapeOf(v), shape);
        }
        if (all) stack_ = {concat, axis, OptimShape(std::move(each)), backwards};
        if (all) return;
      }
    }
  }
  // The value, and what it is with another axis put in.
  std::vector<int> Parts(int v) const {
    std::vector<int> parts{v};
    for (const int user : edit_.users(v))
      if (edit_.Is(user, "Unsqueeze")) parts.push_back(edit_.outputs(user)[0]);
    return parts;
  }

  // Nodes nobody needs when the operator gives the states.
  void FindDead() {
    dead_.assign(static_cast<size_t>(edit_.node_size()), false);
    std::set<int> given{stack_.concat};
    for (const UnrolledStep& step : steps_) given.insert(edit_.producer(step.hidden));
    if (steps_.back().state != kAbsent) given.insert(edit_.producer(steps_.back().state));
    for (int n = edit_.node_size(); n-- > 0;) {
      const bool used = std::ranges::any_of(edit_.outputs(n), [&](int v) { return v != kAbsent && IsWanted(v); });
      dead_[static_cast<size_t>(n)] = !edit_.alive(n) || given.contains(n) || !used;
    }
  }
  bool IsWanted(int v) const {
    return edit_.IsPinned(v) ||
           std::ranges::any_of(edit_.users(v), [&](int user) { return !dead_[static_cast<size_t>(user)]; });
  }

  // What comes in must not depend on the states.
  void CheckOrder() const {
    std::set<int> states, seen;
    std::vector<int> open{steps_.front().hidden_before};
    if (steps_.front().state_before != kAbsent) open.push_back(steps_.front().state_before);
    for (const UnrolledStep& step : steps_) {
      states.insert(step.hidden);
      if (step.state != kAbsent) states.insert(step.state);
      for (const int leaf : step.inputs) open.push_back(step.reader->leaf(leaf).value);
    }
    while (!open.empty()) {
      const int v = open.back();
      open.pop_back();
      if (states.contains(v)) throw cells::NotACell{"an input depends on a state"};
      const int n = edit_.producer(v);
      if (n == kAbsent || !seen.insert(n).second) continue;
      // What bodies capture is not among the inputs.
      bool has_body = false;
      ForEachBody(edit_.node(n), [&](const AttributeProto&, const GraphProto&) { has_body = true; });
      if (has_body) throw cells::NotACell{"an input comes from a node with a body"};
      std::ranges::copy_if(edit_.inputs(n), std::back_inserter(open), [](int input) { return input != kAbsent; });
    }
  }

  GraphEdit& edit_;
  const std::vector<UnrolledStep>& steps_;
  std::vector<bool> dead_;
  struct {
    int concat = kAbsent;
    int64_t axis = 0;
    OptimShape each;
    bool backwards = false;
  } stack_;
};

}  // namespace

int64_t RecogniseUnrolledCells(GraphEdit& edit) {
  int64_t recognised = 0;
  cells::UnrolledSteps steps(edit);
  for (const std::vector<UnrolledStep>& chain : steps.Find()) {
    std::string text;
    try {
      text = Replacing(edit, chain).Run();
      ++recognised;
    } catch (const cells::NotACell& reason) {
      text = fmt::format("{} steps up to \"{}\" stay: {}", chain.size(), edit.name(chain.back().hidden), reason.why);
    } catch (const std::exception&) {
      continue;  // planning says what is wrong
    }
    if (edit.context().note) edit.context().note(std::move(text));
  }
  return recognised;
}

}  // namespace ONNX_LIGHT_NAMESPACE
