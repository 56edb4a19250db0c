// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/node_attributes.h"
#include "model/set_attribute.h"
#include "ops/infer_node.h"
#include "ops/internal/internal_domain.h"
#include "ops/internal/recurrent_group.h"
#include "ops/rnn/recurrent_op.h"
#include "passes/fused_node.h"
#include "passes/passes.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using onnx_optim::OptimDim;
using onnx_optim::OptimShape;

constexpr int kAbsent = GraphEdit::kAbsent;
constexpr size_t kMostMembers = 12;
// A batch of so many rows is shared among threads by its rows.
constexpr int64_t kManyRows = 32;

class Grouping {
 public:
  explicit Grouping(GraphEdit& edit) : edit_(edit) {
    for (int n = 0; n < edit.node_size(); ++n)
      if (auto spec = SpecOf(n)) specs_.emplace(n, std::move(*spec));
  }

  int64_t Run() {
    if (specs_.size() < 2) return 0;
    FindMakers();
    for (const auto& [n, spec] : specs_) Place(n);
    int64_t made = 0;
    for (const Group& group : groups_) {
      if (!IsWorthIt(group)) continue;
      Make(group);
      ++made;
    }
    return made;
  }

 private:
  struct Group {
    std::vector<int> members;
    std::map<int, int> sources;  // the member whose Y is X of this one
    std::vector<int> between;    // nodes on these ways
  };
  // The node whose Y is X of another one, and what stands between them.
  struct Way {
    int source = kAbsent;
    std::vector<int> between;
  };

  // Finding members
  // -----------------------------------------------------------------------------------------------------

  // Of a node that may be one of a group.
  std::optional<RecurrentSpec> SpecOf(int n) const {
    const OpDef* const op = edit_.alive(n) ? edit_.op(n) : nullptr;
    if (op == nullptr) return std::nullopt;
    try {
      auto spec = ReadSequenceSpec(*op, NodeAttributes(edit_.node(n)));
      if (!spec || !UnknownAttributes(*op, edit_.node(n)).empty() || !HasConstantWeights(n, *spec) ||
          KeepsThreadsBusy(n, *spec))
        return std::nullopt;
      return spec;
    } catch (const std::exception&) {
      return std::nullopt;  // planning says what is wrong
    }
  }

  bool HasConstantWeights(int n, const RecurrentSpec& spec) const {
    const RecurrentOperands& at = *spec.operands;
    const TensorProto* const w = edit_.Constant(edit_.input(n, static_cast<size_t>(at.w)));
    if (w == nullptr || (w->data_type() != TensorProto::FLOAT && w->data_type() != TensorProto::DOUBLE)) return false;
    for (const int i : {at.r, at.b, at.p}) {
      const int v = i < 0 ? kAbsent : edit_.input(n, static_cast<size_t>(i));
      if (v == kAbsent && i != at.r) continue;
      const TensorProto* const weight = edit_.Constant(v);
      if (weight == nullptr || weight->data_type() != w->data_type()) return false;
    }
    return w->dims_size() == 3;
  }

  // Alone, whatever its sizes are: then nothing is left to gain.
  bool KeepsThreadsBusy(int n, const RecurrentSpec& spec) const {
    if (edit_.context().least_grouped == 0) return false;
    const OptimShape x = edit_.ShapeOf(edit_.input(n, 0));
    const size_t axis = spec.layout == RecurrentLayout::kTimeMajor ? 1 : 0;
    const int64_t rows = !x.IsUnknown() && x.Rank() == 3 && x[axis].IsInt() ? x[axis].AsInt() : 1;
    const auto units =
        static_cast<double>(edit_.Constant(edit_.input(n, static_cast<size_t>(spec.operands->w)))->dims(1));
    const double step = units * units / spec.gates * static_cast<double>(rows) / edit_.context().threads;
    return rows >= kManyRows || (spec.directions == 1 && step * (kLeastGroupGain - 1) > kernels::kWorthABarrier);
  }

  // Placing them
  // --------------------------------------------------------------------------------------------------------

  void FindMakers() {
    std::unordered_map<std::string_view, int> named;
    for (int n = 0; n < edit_.node_size(); ++n)
      for (const int v : edit_.outputs(n))
        if (v != kAbsent && edit_.alive(n)) named.emplace(edit_.name(v), n);
    makers_.resize(static_cast<size_t>(edit_.node_size()));
    group_of_.assign(makers_.size(), kAbsent);
    for (int n = 0; n < edit_.node_size(); ++n) {
      if (!edit_.alive(n)) continue;
      std::vector<int>& makers = makers_[static_cast<size_t>(n)];
      for (const int v : edit_.inputs(n))
        if (v != kAbsent && edit_.producer(v) != kAbsent) makers.push_back(edit_.producer(v));
      if (edit_.node(n).domain() == kInternalDomain) continue;  // their graphs capture nothing
      ForEachBody(edit_.node(n), [&](const AttributeProto&, const GraphProto& body) {
        for (const std::string_view name : edit_.captures().Of(body))
          if (const auto maker = named.find(name); maker != named.end()) makers.push_back(maker->second);
      });
    }
  }

  // Of each group: something one of its nodes makes is needed for one of `values`.
  std::vector<bool> GroupsBefore(const std::vector<int>& values) const {
    std::vector<bool> groups(groups_.size(), false), seen(makers_.size(), false);
    std::vector<int> open;
    const auto add = [&](int n) {
      if (n == kAbsent || seen[static_cast<size_t>(n)]) return;
      seen[static_cast<size_t>(n)] = true;
      open.push_back(n);
    };
    for (const int v : values)
      if (v != kAbsent) add(edit_.producer(v));
    while (!open.empty()) {
      const int n = open.back(), group = group_of_[static_cast<size_t>(n)];
      open.pop_back();
      for (const int maker : makers_[static_cast<size_t>(n)]) add(maker);
      if (group == kAbsent || groups[static_cast<size_t>(group)]) continue;
      groups[static_cast<size_t>(group)] = true;
      for (const int member : groups_[static_cast<size_t>(group)].members) add(member);
    }
    return groups;
  }

  // Adds node n, which comes after all that have a group, to the group of the node it follows, or one it has nothing to
  // do with; otherwise to a new one.
  void Place(int n) {
    std::vector<int> others = edit_.inputs(n);
    others.erase(others.begin());
    const std::vector<bool> before = GroupsBefore(edit_.inputs(n)), before_others = GroupsBefore(others);
    const auto has_room = [&](size_t g) { return groups_[g].members.size() < kMostMembers; };
    Way way = FindWay(n);
    size_t g = groups_.size();
    if (way.source != kAbsent) g = static_cast<size_t>(group_of_[static_cast<size_t>(way.source)]);
    if (way.source == kAbsent || before_others[g] || !has_room(g)) {
      way = Way();
      for (g = 0; g < groups_.size() && (before[g] || !has_room(g));) ++g;
    }
    if (g == groups_.size()) groups_.emplace_back();
    Group& group = groups_[g];
    group.members.push_back(n);
    group.between.insert(group.between.end(), way.between.begin(), way.between.end());
    if (way.source != kAbsent) group.sources.emplace(n, way.source);
    group_of_[static_cast<size_t>(n)] = static_cast<int>(g);
  }

  Way FindWay(int n) const {
    Way way;
    int v = edit_.input(n, 0);
    for (;;) {
      const int maker = v == kAbsent ? kAbsent : edit_.producer(v);
      if (maker == kAbsent) return {};
      if (specs_.contains(maker)) {
        if (!Follows(n, maker, v)) return {};
        way.source = maker;
        return way;
      }
      if (!LeavesPlaces(maker)) return {};
      way.between.push_back(maker);
      v = edit_.input(maker, 0);
    }
  }

  // All elements stay where they are, whatever the axes are called.
  bool LeavesPlaces(int n) const {
    if (edit_.op(n) == nullptr || !UnknownAttributes(*edit_.op(n), edit_.node(n)).empty()) return false;
    for (size_t i = 1; i < edit_.inputs(n).size(); ++i)
      if (edit_.inputs(n)[i] != kAbsent && edit_.Constant(edit_.inputs(n)[i]) == nullptr) return false;
    for (const std::string_view type : {"Identity", "Reshape", "Squeeze", "Unsqueeze"})
      if (edit_.Is(n, type)) return true;
    const auto perm = edit_.Is(n, "Transpose") ? NodeAttributes(edit_.node(n)).FindInts("perm") : std::nullopt;
    const OptimShape shape = edit_.ShapeOf(edit_.input(n, 0));
    if (!perm || shape.IsUnknown() || shape.Rank() != perm->size()) return false;
    // Only axes of one element change places.
    int64_t last = -1;
    for (const int64_t axis : *perm) {
      if (axis < 0 || axis >= static_cast<int64_t>(perm->size())) return false;
      if (shape[static_cast<size_t>(axis)] == OptimDim(1)) continue;
      if (axis < last) return false;
      last = axis;
    }
    return true;
  }

  // Node n, to which `y` of `source` comes with its elements where they were, reads it step by step as it is made.
  bool Follows(int n, int source, int y) const {
    const RecurrentSpec &reader = specs_.at(n), &maker = specs_.at(source);
    const bool time_major = maker.layout == RecurrentLayout::kTimeMajor;
    if (y != edit_.outputs(source)[0] || maker.directions != 1 || reader.directions != 1 ||
        maker.reverse[0] != reader.reverse[0] || time_major != (reader.layout == RecurrentLayout::kTimeMajor))
      return false;
    const OptimShape from = edit_.ShapeOf(y), to = edit_.ShapeOf(edit_.input(n, 0));
    if (from.IsUnknown() || to.IsUnknown() || from.Rank() != 4 || to.Rank() != 3) return false;
    const size_t direction = maker.layout == RecurrentLayout::kBatchMajor ? 2 : 1;
    for (size_t i = 0; i < 3; ++i)
      if (!(to[i] == from[i < direction ? i : i + 1])) return false;
    return true;
  }

  // Making groups
  // -------------------------------------------------------------------------------------------------------

  // Two directions are two threads' work.
  bool IsWorthIt(const Group& group) const {
    return group.members.size() > 1 &&
           (edit_.context().threads > 2 || edit_.context().least_grouped == 0 ||
            std::ranges::any_of(group.members, [&](int n) { return specs_.at(n).directions == 1; }));
  }

  static bool Holds(const std::vector<int>& nodes, int n) { return std::ranges::find(nodes, n) != nodes.end(); }

  void Make(const Group& group) {
    std::vector<int> nodes = group.members;
    for (const int n : group.between)
      if (!Holds(nodes, n)) nodes.push_back(n);
    std::ranges::sort(nodes);
    // Nodes on the ways leave where nobody else uses what they give.
    std::vector<int> leaving = group.members;
    const auto is_used = [&](int v) {
      return v != kAbsent && (edit_.IsPinned(v) ||
                              !std::ranges::all_of(edit_.users(v), [&](int user) { return Holds(leaving, user); }));
    };
    for (size_t i = nodes.size(); i-- > 0;)
      if (!Holds(leaving, nodes[i]) && !std::ranges::any_of(edit_.outputs(nodes[i]), is_used))
        leaving.push_back(nodes[i]);

    std::vector<int> inputs, outputs;
    for (const int n : nodes)
      for (const int v : edit_.inputs(n))
        if (v != kAbsent && !Holds(nodes, edit_.producer(v)) && !Holds(inputs, v)) inputs.push_back(v);
    for (const int n : group.members)
      for (const int v : edit_.outputs(n))
        if (is_used(v)) outputs.push_back(v);
    // A node without outputs is none.
    if (outputs.empty()) return;
    Note(group);
    NodeProto made = NodeOfSteps(edit_, nodes, "RecurrentGroup", inputs, outputs);
    SetInt(made, "opset", edit_.opset());
    SetInt(made, "together_from", edit_.context().least_grouped);
    for (const int n : leaving) edit_.Remove(n);
    edit_.AddNode(std::move(made), inputs, outputs);
  }

  void Note(const Group& group) const {
    if (!edit_.context().note) return;
    std::vector<std::string> texts;
    for (const int n : group.members) {
      const NodeProto& node = edit_.node(n);
      const auto source = group.sources.find(n);
      texts.push_back(fmt::format("{} \"{}\"", node.op_type().as_string(), NameOf(n)));
      if (source != group.sources.end()) texts.back() += fmt::format(" behind \"{}\"", NameOf(source->second));
    }
    edit_.context().note(fmt::format("at the same time where steps are small: {}", fmt::join(texts, ", ")));
  }
  std::string NameOf(int n) const {
    const NodeProto& node = edit_.node(n);
    return (node.name().empty() ? node.output(0) : node.name()).as_string();
  }

  GraphEdit& edit_;
  std::map<int, RecurrentSpec> specs_;    // of the nodes that may be members
  std::vector<std::vector<int>> makers_;  // of each node: those whose results it needs
  std::vector<int> group_of_;             // of each node
  std::vector<Group> groups_;
};

}  // namespace

int64_t GroupRecurrent(GraphEdit& edit) {
  // Bodies run often, and for few steps.
  if (edit.context().threads < 2 || edit.outer() != nullptr) return 0;
  return Grouping(edit).Run();
}

}  // namespace ONNX_LIGHT_NAMESPACE
