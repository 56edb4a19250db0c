// SPDX-License-Identifier: Apache-2.0
// RecurrentGroup (onnxseq.internal 1): the recurrent nodes of graph `steps`, whose inputs and outputs are found in
// those of the node by their names. One may have the Y of another one before it as X, the nodes between them (Squeeze,
// Reshape, ..) leaving all elements where they are; otherwise none depends on another one. Made by
// passes/group_recurrent.cc, never written to files.
//
// Where that saves time, by sizes alone, and from `together_from` multiply-adds on, they run at the same time, each
// direction on one thread at a time, a layer some steps behind the one below it; otherwise one after the other, on all
// threads. To the bit what the nodes give one by one.
#include "ops/internal/recurrent_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "onnxseq/errors.h"
#include "ops/infer_node.h"
#include "ops/input_checks.h"
#include "ops/internal/internal_domain.h"
#include "ops/rnn/recurrent_call.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr std::string_view kSteps = "steps", kOpset = "opset", kTogetherFrom = "together_from";

constexpr int kAbsent = -1;
constexpr int kFromMember = -2;  // X, the Y of member `source`

struct Member {
  const NodeProto* node = nullptr;
  const OpDef* op = nullptr;
  std::vector<InputCheck> checks;
  std::unique_ptr<OpState> state;
  std::vector<int> inputs;   // of the group
  std::vector<int> outputs;  // of the group
  int source = kAbsent;
  bool is_source = false;

  const RecurrentNode& recurrent() const { return static_cast<const RecurrentNode&>(*state); }
};

struct Group : OpState {
  std::vector<Member> members;
  double together_from = 0;
};

// Preparing
// -------------------------------------------------------------------------------------------------------------

// What the group's preparation is for one of its nodes.
class MemberPreparation final : public PrepareContext {
 public:
  MemberPreparation(const PrepareContext& group, const Member& member, int64_t opset)
      : group_(group), member_(member), opset_(opset) {}
  const NodeProto& node() const override { return *member_.node; }
  int64_t opset() const override { return opset_; }
  const Tensor* ConstantInput(int i) const override { return IsGiven(i) ? group_.ConstantInput(InputOf(i)) : nullptr; }
  TensorType InputType(int i) const override {
    return IsGiven(i) ? group_.InputType(InputOf(i)) : TensorType::kUndefined;
  }
  bool flush_denormals() const override { return group_.flush_denormals(); }
  WeightStorage weight_storage() const override { return group_.weight_storage(); }

 private:
  int InputOf(int i) const { return member_.inputs[static_cast<size_t>(i)]; }
  bool IsGiven(int i) const { return static_cast<size_t>(i) < member_.inputs.size() && InputOf(i) >= 0; }

  const PrepareContext& group_;
  const Member& member_;
  int64_t opset_;
};

class Preparing {
 public:
  explicit Preparing(const PrepareContext& ctx) : ctx_(ctx), group_(std::make_unique<Group>()) {
    for (size_t i = 0; i < ctx.node().input().size(); ++i)
      places_.emplace(ctx.node().input(i), Place{.input = static_cast<int>(i)});
  }

  std::unique_ptr<OpState> Run() {
    group_->together_from = static_cast<double>(ctx_.attrs().Int(kTogetherFrom, 0));
    for (const NodeProto& node : ctx_.attrs().Graph(kSteps).node()) {
      const int64_t opset = node.domain().empty() ? ctx_.attrs().Int(kOpset) : 1;
      const OpDef* const op = FindOp(node.domain(), node.op_type(), opset);
      if (op == nullptr || !ReadSequenceSpec(*op, NodeAttributes(node)))
        AddBetween(node);
      else
        AddMember(node, *op, opset);
    }
    return std::move(group_);
  }

 private:
  // Where a value is found: an input of the group, or the first output of a member.
  struct Place {
    int input = kAbsent, member = kAbsent;
  };

  Place Find(const NodeProto& node, size_t i) const {
    const auto found = places_.find(node.input(i));
    if (found == places_.end())
      FailAttribute(kSteps,
                    fmt::format("has no \"{}\" before {}", node.input(i).as_string(), node.op_type().as_string()));
    return found->second;
  }

  void AddBetween(const NodeProto& node) {
    const Place place = node.input_size() > 0 && node.output_size() == 1 ? Find(node, 0) : Place();
    if (place.member == kAbsent)
      FailAttribute(kSteps, fmt::format("holds {}, which stands behind no recurrent node", node.op_type().as_string()));
    places_.insert_or_assign(node.output(0), place);
  }

  void AddMember(const NodeProto& node, const OpDef& op, int64_t opset) {
    const auto number = static_cast<int>(group_->members.size());
    CheckNode(op, node);
    Member member;
    member.node = &node;
    member.op = &op;
    member.checks = InputChecks(op, node);
    for (size_t i = 0; i < node.input().size(); ++i) {
      const Place place = node.input(i).empty() ? Place() : Find(node, i);
      if (place.member == kAbsent) {
        member.inputs.push_back(place.input);
        continue;
      }
      if (i != 0) FailAttribute(kSteps, fmt::format("gives input {} of {} the output of another node", i, op.type));
      member.inputs.push_back(kFromMember);
      member.source = place.member;
      group_->members[static_cast<size_t>(place.member)].is_source = true;
    }
    for (const auto& name : node.output()) {
      const auto& all = ctx_.node().output();
      const auto found = std::ranges::find(all, name);
      member.outputs.push_back(name.empty() || found == all.end() ? kAbsent : static_cast<int>(found - all.begin()));
    }
    try {
      member.state = op.prepare(MemberPreparation(ctx_, member, opset));
    } catch (Error& e) {
      e.AddNode(node.op_type(), node.name());
      throw;
    }
    if (!node.output().empty() && !node.output(0).empty())
      places_.insert_or_assign(node.output(0), Place{.member = number});
    group_->members.push_back(std::move(member));
  }

  const PrepareContext& ctx_;
  std::unique_ptr<Group> group_;
  std::unordered_map<std::string_view, Place> places_;
};

// Running
// ---------------------------------------------------------------------------------------------------------------

// A run of the group as one of its nodes sees it.
class MemberContext final : public RunContext {
 public:
  // `source`: of the node whose Y is X.
  MemberContext(RunContext& group, const Member& member, const MemberContext* source) : group_(group), member_(member) {
    if (source == nullptr) return;
    // Without directions.
    Shape shape = source->y_->shape();
    shape.erase(source->member_.recurrent().spec.layout == RecurrentLayout::kBatchMajor ? 2 : 1);
    x_ = source->y_->WithShape(std::move(shape));
  }

  const NodeProto& node() const override { return *member_.node; }
  const OpDef& op() const override { return *member_.op; }
  int input_size() const override { return static_cast<int>(member_.inputs.size()); }
  const Value& input(int i) const override {
    static const Value nothing;
    const int input = member_.inputs[static_cast<size_t>(i)];
    return input == kFromMember ? x_ : input == kAbsent ? nothing : group_.input(input);
  }
  Value TakeInput(int i) override { return input(i); }
  int output_size() const override { return static_cast<int>(member_.outputs.size()); }
  bool HasOutput(int i) const override { return IsGiven(i) || (i == 0 && member_.is_source); }
  void SetOutput(int i, Value value) override {
    if (IsGiven(i)) group_.SetOutput(member_.outputs[static_cast<size_t>(i)], std::move(value));
  }
  Tensor& AllocateOutput(int i, TensorType dtype, Shape shape) override {
    Tensor* tensor = &own_;
    if (IsGiven(i))
      tensor = &group_.AllocateOutput(member_.outputs[static_cast<size_t>(i)], dtype, std::move(shape));
    else
      own_ = Tensor(dtype, std::move(shape));
    if (i == 0) y_ = tensor;
    return *tensor;
  }
  ThreadTeam& team() override { return group_.team(); }
  int threads() const override { return group_.threads(); }
  const BodyRunner& Body(std::string_view name) override { return group_.Body(name); }
  void CheckCancelled() const override { group_.CheckCancelled(); }
  uint64_t NextSeed() override { return group_.NextSeed(); }

 protected:
  const OpState* RawState() const override { return member_.state.get(); }

 private:
  bool IsGiven(int i) const {
    return static_cast<size_t>(i) < member_.outputs.size() && member_.outputs[static_cast<size_t>(i)] != kAbsent &&
           group_.HasOutput(member_.outputs[static_cast<size_t>(i)]);
  }

  RunContext& group_;
  const Member& member_;
  Value x_;
  Tensor own_;  // Y, when only other nodes of the group read it
  const Tensor* y_ = nullptr;
};

class GroupRun {
 public:
  explicit GroupRun(RunContext& ctx) : ctx_(ctx), group_(ctx.state<Group>()) {}

  void Run() {
    contexts_.reserve(group_.members.size());
    for (const Member& member : group_.members) {
      contexts_.emplace_back(ctx_, member,
                             member.source == kAbsent ? nullptr : &contexts_[static_cast<size_t>(member.source)]);
      InMember(member, [&] {
        CheckInputs(contexts_.back(), member.checks);
        calls_.push_back(member.recurrent().Start(contexts_.back()));
      });
    }
    if (PaysTogether()) return RunTogether();
    for (size_t k = 0; k < calls_.size(); ++k) {
      InMember(group_.members[k], [&] {
        calls_[k]->Run();
        ctx_.CheckCancelled();
      });
    }
  }

 private:
  template <class Fn>
  static void InMember(const Member& member, const Fn& fn) {
    try {
      fn();
    } catch (Error& e) {
      e.AddNode(member.node->op_type(), member.node->name());
      throw;
    }
  }

  bool PaysTogether() const {
    double all = 0, one_by_one = 0, longest = 0;
    std::vector<double> ends;
    for (size_t k = 0; k < calls_.size(); ++k) {
      const RecurrentPlaces& places = calls_[k]->places();
      if (places.rows == 0) return false;
      const kernels::RecurrentCost cost = calls_[k]->Cost(ctx_.threads());
      all += cost.alone;
      one_by_one += cost.shared;
      // A layer ends one block after the one below it.
      const int source = group_.members[k].source;
      const double before = source == kAbsent ? 0 : ends[static_cast<size_t>(source)];
      const double block = static_cast<double>(kernels::StrandBlock(places.steps, places.rows));
      ends.push_back(std::max(cost.longest, before) +
                     cost.longest * std::min(1.0, block / static_cast<double>(std::max<int64_t>(1, places.steps))));
      longest = std::max(longest, ends.back());
    }
    if (group_.together_from == 0) return true;
    return ctx_.threads() > 1 && all >= group_.together_from &&
           one_by_one >= kLeastGroupGain * std::max(longest, all / ctx_.threads());
  }

  void RunTogether() {
    std::vector<kernels::Strand> strands;
    std::vector<size_t> first;
    for (size_t k = 0; k < calls_.size(); ++k) {
      first.push_back(strands.size());
      InMember(group_.members[k], [&] { calls_[k]->AddStrands(strands); });
      const int source = group_.members[k].source;
      if (source == kAbsent) continue;
      strands.back().after = static_cast<int>(first[static_cast<size_t>(source)]);
      strands.back().behind = StepsBehind(k, static_cast<size_t>(source));
    }
    kernels::RunStrands(strands, ctx_.team(), ctx_.threads());
  }

  // How many steps later than step s of node `k` the node it reads is done with what that step reads. Going backward a
  // row begins where it ends, which may be at another place in each of the two.
  int64_t StepsBehind(size_t k, size_t source) const {
    if (!group_.members[k].recurrent().spec.reverse[0]) return 0;
    const RecurrentPlaces &read = calls_[source]->places(), &reading = calls_[k]->places();
    const auto length = [](const RecurrentPlaces& places, size_t row) {
      return places.lengths.empty() ? places.steps : int64_t{places.lengths[row]};
    };
    int64_t behind = 0;
    for (size_t row = 0; row < static_cast<size_t>(read.rows); ++row)
      behind = std::max(behind, length(read, row) - length(reading, row));
    return behind;
  }

  RunContext& ctx_;
  const Group& group_;
  std::vector<MemberContext> contexts_;
  std::vector<std::unique_ptr<RecurrentCall>> calls_;
};

void ShapeRule(InferScope& scope) {
  const GraphProto& steps = scope.attrs().Graph(kSteps);
  std::vector<ShapeValue> inputs;
  for (int i = 0; i < scope.input_size(); ++i) inputs.push_back(scope.Input(i));
  const std::vector<ShapeValue> outputs = scope.InferBody(steps, inputs);
  for (size_t i = 0; i < outputs.size(); ++i) scope.SetOutput(static_cast<int>(i), outputs[i]);
}

}  // namespace

std::span<const OpDef> recurrent_group_ops() {
  static constexpr TypeSet kFloats{TensorType::kFloat, TensorType::kDouble};
  static const OpDef ops[] = {
      {.domain = kInternalDomain,
       .type = "RecurrentGroup",
       .since_version = 1,
       .inputs = {{.name = "inputs", .types = kFloats | kIntTypes, .count = FormalCount::kVariadic}},
       .outputs = {{.name = "outputs", .types = kFloats, .count = FormalCount::kVariadic}},
       .attributes = {{kSteps, AttrKind::kGraph, true},
                      {kOpset, AttrKind::kInt, true},
                      {kTogetherFrom, AttrKind::kInt}},
       .shape = ShapeRule,
       .prepare = [](const PrepareContext& ctx) { return Preparing(ctx).Run(); },
       .run = [](RunContext& ctx) { GroupRun(ctx).Run(); },
       .reads_graphs = true},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
