// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "onnxseq/errors.h"
#include "ops/run_context.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

const Value kNothing;

thread_local const RunState* current_run = nullptr;

// splitmix64: neighbouring counters give unrelated numbers.
uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

TensorType TypeOf(const Value& value) {
  if (value.IsTensor()) return value.tensor().dtype();
  return value.IsSequence() ? value.sequence().dtype() : TensorType::kUndefined;
}

class Body : public BodyRunner {
 public:
  Body(const BodyPlan& plan, const NodeProto& node, const RunState& run, std::vector<const Value*> outer)
      : plan_(plan), node_(node), run_(run), outer_(std::move(outer)) {}

  int input_size() const override { return static_cast<int>(plan_.graph.inputs.size()); }
  int output_size() const override { return static_cast<int>(plan_.graph.outputs.size()); }
  TensorType OutputType(int i) const override { return plan_.graph.output_types[static_cast<size_t>(i)]; }
  double EstimatedNanoseconds() const override { return plan_.graph.nanoseconds; }

  void Run(std::span<Value> inputs, std::span<Value> outputs, int64_t element) const override {
    try {
      const RunThreadScope thread(run_);
      RunGraph(plan_.graph, run_, inputs, outer_, outputs);
    } catch (Error& e) {
      e.AddPath(plan_.PlaceIn(node_, element));
      throw;
    }
  }

  const BodyPlan& plan() const { return plan_; }

 private:
  const BodyPlan& plan_;
  const NodeProto& node_;
  const RunState& run_;
  std::vector<const Value*> outer_;
};

class NodeContext final : public RunContext {
 public:
  NodeContext(const GraphPlan& plan, const RunState& run, Frame& frame, std::span<const Value* const> outer)
      : plan_(plan), run_(run), frame_(frame.data()), outer_(outer) {}

  void Run(const NodePlan& node) {
    node_ = &node;
    CheckInputs();
    if (run_.observer == nullptr) {
      node.op->run(*this);
    } else {
      const auto begin = std::chrono::steady_clock::now();
      node.op->run(*this);
      Show(*node.node, begin, std::chrono::steady_clock::now(), node.outputs, frame_);
    }
    if (!bodies_.empty()) bodies_.clear();
    for (const int32_t slot : node.release) frame_[slot] = Value();
  }

  // Tells the observer of what was computed when the plan was made.
  void ShowFolded() const {
    const auto now = std::chrono::steady_clock::now();
    for (const FoldedNode& folded : plan_.folded) Show(*folded.node, now, now, folded.outputs, plan_.constants.data());
  }

  const NodeProto& node() const override { return *node_->node; }
  const OpDef& op() const override { return *node_->op; }
  int input_size() const override { return static_cast<int>(node_->inputs.size()); }
  const Value& input(int i) const override { return At(node_->inputs[static_cast<size_t>(i)]); }
  Value TakeInput(int i) override {
    const ValueRef& ref = node_->inputs[static_cast<size_t>(i)];
    return ref.last ? std::exchange(frame_[ref.index], Value()) : At(ref);
  }

  int output_size() const override { return node_->node->output_size(); }
  bool HasOutput(int i) const override {
    return static_cast<size_t>(i) < node_->outputs.size() && node_->outputs[static_cast<size_t>(i)] >= 0;
  }
  void SetOutput(int i, Value value) override {
    if (HasOutput(i)) frame_[node_->outputs[static_cast<size_t>(i)]] = std::move(value);
  }
  Tensor& AllocateOutput(int i, TensorType dtype, Shape shape) override {
    Value& place = HasOutput(i) ? frame_[node_->outputs[static_cast<size_t>(i)]] : unwanted_;
    place = Tensor(dtype, std::move(shape));
    return place.mutable_tensor();
  }

  ThreadTeam& team() override { return *run_.team; }
  int threads() const override { return run_.threads; }
  void CheckCancelled() const override {
    if (run_.can_stop()) run_.Check();
  }
  uint64_t NextSeed() override { return Mix(run_.seed ^ Mix(run_.draws.fetch_add(1, std::memory_order_relaxed))); }

  const BodyRunner& Body(std::string_view name) override {
    for (const auto& body : bodies_)
      if (body->plan().attribute == name) return *body;
    for (const auto& plan : node_->bodies) {
      if (plan->attribute != name) continue;
      std::vector<const Value*> outer;
      outer.reserve(plan->captures.size());
      for (const ValueRef& ref : plan->captures) outer.push_back(&At(ref));
      bodies_.push_back(std::make_unique<class Body>(*plan, node(), run_, std::move(outer)));
      return *bodies_.back();
    }
    FailAttribute(name, "is missing");
  }

 protected:
  const OpState* RawState() const override { return node_->state.get(); }

 private:
  const Value& At(const ValueRef& ref) const {
    switch (ref.kind) {
      case ValueRef::Kind::kSlot:
        return frame_[ref.index];
      case ValueRef::Kind::kConstant:
        return plan_.constants[static_cast<size_t>(ref.index)];
      case ValueRef::Kind::kOuter:
        return *outer_[static_cast<size_t>(ref.index)];
      case ValueRef::Kind::kAbsent:
        break;
    }
    return kNothing;
  }

  using Moment = std::chrono::steady_clock::time_point;
  void Show(const NodeProto& node, Moment begin, Moment end, std::span<const int32_t> places,
            const Value* values) const {
    std::vector<const Value*> outputs;
    for (const int32_t place : places) outputs.push_back(place < 0 ? nullptr : values + place);
    run_.observer->OnNode({plan_.path, node, begin, end, outputs});
  }

  void CheckInputs() const {
    const size_t count = node_->checks.size();
    for (size_t i = 0; i < count; ++i) {
      const InputCheck& check = node_->checks[i];
      const Value& value = At(node_->inputs[i]);
      if (value.IsNone()) {
        if (check.required && check.kind != FormalKind::kAny) FailKind(static_cast<int>(i), check.kind, value);
        continue;
      }
      if ((check.kind == FormalKind::kTensor && !value.IsTensor()) ||
          (check.kind == FormalKind::kSequence && !value.IsSequence()))
        FailKind(static_cast<int>(i), check.kind, value);
      const TensorType type = TypeOf(value);
      if (type == TensorType::kUndefined) continue;  // an empty sequence of nobody knows what
      if (((check.types >> static_cast<int>(type)) & 1u) == 0)
        FailInput(static_cast<int>(i),
                  fmt::format("cannot have elements of type {}", onnx_optim::TensorTypeName(type)));
      if (check.same_as < 0) continue;
      const TensorType first = TypeOf(At(node_->inputs[static_cast<size_t>(check.same_as)]));
      if (first != type && first != TensorType::kUndefined)
        FailInput(static_cast<int>(i),
                  fmt::format("must have the element type of {}, {}, got {}", InputSubject(check.same_as),
                              onnx_optim::TensorTypeName(first), onnx_optim::TensorTypeName(type)));
    }
  }
  [[noreturn]] void FailKind(int i, FormalKind kind, const Value& value) const {
    const std::string_view wanted = kind == FormalKind::kTensor     ? "a tensor"
                                    : kind == FormalKind::kSequence ? "a sequence"
                                                                    : "a tensor or a sequence";
    FailInput(i, fmt::format("must be {}, got {}", wanted, value.TypeString()));
  }

  const GraphPlan& plan_;
  const RunState& run_;
  Value* frame_;
  std::span<const Value* const> outer_;
  const NodePlan* node_ = nullptr;
  std::vector<std::unique_ptr<class Body>> bodies_;
  Value unwanted_;
};

}  // namespace

void RunState::Check() const {
  if (stop == nullptr || !stop->RequestedNow()) return;
  if (stop->reason() == StopToken::Reason::kCancelled) throw TimeoutError("the run was cancelled");
  throw TimeoutError(fmt::format("the run takes longer than its limit of {} ms",
                                 std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count()));
}

RunThreadScope::RunThreadScope(const RunState& run) : before_(current_run) {
  if (current_run == &run) return;
  budget_.emplace(run.budget);
  if (run.blocks != nullptr) blocks_.emplace(*run.blocks);
  current_run = &run;
}
RunThreadScope::~RunThreadScope() { current_run = before_; }

void RunGraph(const GraphPlan& plan, const RunState& run, std::span<Value> inputs, std::span<const Value* const> outer,
              std::span<Value> outputs) {
  if (inputs.size() != plan.inputs.size())
    throw InvalidArgument(fmt::format("the graph takes {} inputs, got {}", plan.inputs.size(), inputs.size()));
  const FrameLease lease(plan.frames);
  Frame& frame = *lease;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (plan.inputs[i] >= 0) frame[static_cast<size_t>(plan.inputs[i])] = std::move(inputs[i]);
    inputs[i] = Value();
  }
  NodeContext context(plan, run, frame, outer);
  const NodePlan* current = nullptr;
  const bool can_stop = run.can_stop();
  try {
    if (run.observer != nullptr) context.ShowFolded();
    for (const NodePlan& node : plan.nodes) {
      const bool is_first = std::exchange(current, &node) == nullptr;
      if (can_stop && is_first) run.Check();
      context.Run(node);
      // Kernels that were asked to end have left their results unfinished.
      if (can_stop) run.Check();
    }
  } catch (Error& e) {
    if (current != nullptr) e.AddNode(current->node->op_type(), current->node->name());
    throw;
  } catch (...) {
    try {
      RethrowAsError();
    } catch (Error& e) {
      if (current != nullptr) e.AddNode(current->node->op_type(), current->node->name());
      throw;
    }
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ValueRef& ref = plan.outputs[i];
    switch (ref.kind) {
      case ValueRef::Kind::kSlot: {
        Value& value = frame[static_cast<size_t>(ref.index)];
        outputs[i] = ref.last ? std::exchange(value, Value()) : value;
        break;
      }
      case ValueRef::Kind::kConstant:
        outputs[i] = plan.constants[static_cast<size_t>(ref.index)];
        break;
      case ValueRef::Kind::kOuter:
        outputs[i] = *outer[static_cast<size_t>(ref.index)];
        break;
      case ValueRef::Kind::kAbsent:
        outputs[i] = Value();
        break;
    }
  }
}

std::vector<Value> EvaluateConstant(const NodePlan& node, const GraphPlan& plan) {
  static ThreadTeam alone(1);
  RunState run;
  run.team = &alone;
  NodePlan copy;
  copy.node = node.node;
  copy.op = node.op;
  copy.state = node.state;
  copy.inputs = node.inputs;
  copy.checks = node.checks;
  for (int i = 0; i < node.node->output_size(); ++i) copy.outputs.push_back(i);
  Frame frame(copy.outputs.size());
  NodeContext(plan, run, frame, {}).Run(copy);
  return frame;
}

}  // namespace ONNX_LIGHT_NAMESPACE
