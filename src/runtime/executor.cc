// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "onnxseq/errors.h"
#include "ops/input_checks.h"
#include "ops/internal/internal_domain.h"
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

class Body;

class NodeContext final : public RunContext {
 public:
  NodeContext(const GraphPlan& plan, const RunState& run, Frame& frame, std::span<const Value* const> outer);
  ~NodeContext() override;

  void Run(const NodePlan& node) {
    node_ = &node;
    CheckInputs(*this, node.checks);
    if (run_.observer == nullptr) {
      RunOp(node);
    } else {
      const auto begin = std::chrono::steady_clock::now();
      RunOp(node);
      Show(*node.node, begin, std::chrono::steady_clock::now(), node.outputs, frame_);
    }
    for (const int32_t slot : node.release) frame_[slot] = Value();
  }

  // Tells the observer that the graph begins to run, and of what was computed when the plan was made.
  void ShowBegin(std::span<const Value> inputs, const uint64_t* outer) {
    graph_run_ = run_.graph_runs.fetch_add(1, std::memory_order_relaxed);
    Tell([&] {
      run_.observer->OnGraph({plan_.path, *plan_.graph, graph_run_, outer == nullptr ? graph_run_ : *outer, inputs});
    });
    const auto now = std::chrono::steady_clock::now();
    for (const FoldedNode& folded : plan_.folded) Show(*folded.node, now, now, folded.outputs, plan_.constants.data());
  }
  void ShowEnd() const {
    Tell([&] { run_.observer->OnGraphEnd(graph_run_); });
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

  const BodyRunner& Body(std::string_view name) override;

 protected:
  const OpState* RawState() const override { return node_->state.get(); }

 private:
  void RunOp(const NodePlan& node) {
    if (node.sequence_map != nullptr) {
      const std::vector<ValueRef>& captures = node.bodies.front()->captures;
      if (node.sequence_map->Run(*this, run_, graph_run_, [&](size_t i) -> const Value& { return At(captures[i]); }))
        return;
    }
    node.op->run(*this);
  }

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
    Tell([&] { run_.observer->OnNode({plan_.path, graph_run_, node, begin, end, outputs}); });
  }
  // What an observer throws ends the run, where the error of a node may have it go on in another way.
  template <class Fn>
  void Tell(const Fn& fn) const {
    try {
      fn();
    } catch (...) {
      run_.observer_threw = true;
      throw;
    }
  }

  const GraphPlan& plan_;
  const RunState& run_;
  Value* frame_;
  std::span<const Value* const> outer_;
  const NodePlan* node_ = nullptr;
  uint64_t graph_run_ = 0;                           // the current one, as the observer knows it
  std::vector<std::unique_ptr<class Body>> bodies_;  // by BodyPlan::index, made when first asked for
  Value unwanted_;
};

// Runs a graph, again and again in one frame. What does not change between the runs is computed in the first. After a
// throw it may be destroyed only.
class GraphRun {
 public:
  // `outer_run`: where the current run of the graph around it stands, null for the main graph.
  GraphRun(const GraphPlan& plan, const RunState& run, std::span<const Value* const> outer, const uint64_t* outer_run)
      : plan_(plan),
        run_(run),
        outer_(outer),
        outer_run_(outer_run),
        lease_(plan.frames),
        context_(plan, run, *lease_, outer) {}

  void Run(std::span<Value> inputs, std::span<Value> outputs) {
    if (inputs.size() != plan_.inputs.size())
      throw InvalidArgument(fmt::format("the graph takes {} inputs, got {}", plan_.inputs.size(), inputs.size()));
    Frame& frame = *lease_;
    if (run_.observer != nullptr) context_.ShowBegin(inputs, outer_run_);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (plan_.inputs[i] >= 0) frame[static_cast<size_t>(plan_.inputs[i])] = std::move(inputs[i]);
      inputs[i] = Value();
    }
    if (!invariant_done_) {
      RunNodes(plan_.invariant);
      invariant_done_ = true;
    }
    RunNodes(plan_.nodes);
    if (run_.observer != nullptr) context_.ShowEnd();
    for (size_t i = 0; i < outputs.size(); ++i) outputs[i] = Output(plan_.outputs[i]);
  }

 private:
  void RunNodes(const std::vector<NodePlan>& nodes) {
    const bool can_stop = run_.can_stop();
    const NodePlan* current = nullptr;
    try {
      for (const NodePlan& node : nodes) {
        const bool is_first = std::exchange(current, &node) == nullptr;
        if (can_stop && is_first) run_.Check();
        context_.Run(node);
        // Kernels that were asked to end have left their results unfinished.
        if (can_stop) run_.Check();
      }
    } catch (Error& e) {
      e.AddNode(AuthorNode(*current->node).op_type(), AuthorNode(*current->node).name());
      throw;
    } catch (...) {
      try {
        RethrowAsError();
      } catch (Error& e) {
        e.AddNode(AuthorNode(*current->node).op_type(), AuthorNode(*current->node).name());
        throw;
      }
    }
  }

  Value Output(const ValueRef& ref) {
    switch (ref.kind) {
      case ValueRef::Kind::kSlot: {
        Value& value = (*lease_)[static_cast<size_t>(ref.index)];
        return ref.last ? std::exchange(value, Value()) : value;
      }
      case ValueRef::Kind::kConstant:
        return plan_.constants[static_cast<size_t>(ref.index)];
      case ValueRef::Kind::kOuter:
        return *outer_[static_cast<size_t>(ref.index)];
      case ValueRef::Kind::kAbsent:
        break;
    }
    return Value();
  }

  const GraphPlan& plan_;
  const RunState& run_;
  std::span<const Value* const> outer_;
  const uint64_t* outer_run_;
  FrameLease lease_;
  NodeContext context_;
  bool invariant_done_ = false;
};

class Body : public BodyRunner {
 public:
  Body(const BodyPlan& plan, const NodeProto& node, const RunState& run, std::vector<const Value*> outer,
       const uint64_t& outer_run)
      : plan_(plan), node_(node), run_(run), outer_(std::move(outer)), outer_run_(outer_run) {}

  int input_size() const override { return static_cast<int>(plan_.graph.inputs.size()); }
  int output_size() const override { return static_cast<int>(plan_.graph.outputs.size()); }
  TensorType OutputType(int i) const override { return plan_.graph.output_types[static_cast<size_t>(i)]; }
  std::optional<std::vector<int64_t>> OutputDims(int i) const override {
    const OptimShape& shape = plan_.graph.output_shapes[static_cast<size_t>(i)];
    if (shape.IsUnknown()) return std::nullopt;
    std::vector<int64_t> dims;
    for (const OptimDim& dim : shape) {
      const std::optional<int64_t> size = onnx_optim::Evaluate(dim, [&](std::string_view symbol) {
        if (run_.symbols == nullptr) return std::optional<int64_t>();
        const auto it = std::ranges::find(*run_.symbols, symbol, &SymbolSize::symbol);
        return it == run_.symbols->end() ? std::nullopt : std::optional(it->size);
      });
      dims.push_back(size && *size >= 0 ? *size : -1);
    }
    return dims;
  }
  double EstimatedNanoseconds() const override { return plan_.graph.nanoseconds; }

  void Run(std::span<Value> inputs, std::span<Value> outputs) const override {
    try {
      GraphRun graph(plan_.graph, run_, outer_, &outer_run_);
      RunIn(graph, inputs, outputs);
    } catch (Error& e) {
      e.AddPath(plan_.Place(node_));
      throw;
    }
  }

  std::unique_ptr<BodySteps> Start(std::string_view name) const override {
    return std::make_unique<Steps>(*this, name);
  }

 private:
  class Steps final : public BodySteps {
   public:
    Steps(const Body& body, std::string_view name)
        : body_(body), name_(name), graph_(body.plan_.graph, body.run_, body.outer_, &body.outer_run_) {}
    void Run(std::span<Value> inputs, std::span<Value> outputs, int64_t number) override {
      try {
        body_.RunIn(graph_, inputs, outputs);
      } catch (Error& e) {
        e.AddPath(body_.plan_.Place(body_.node_, name_, number));
        throw;
      }
    }

   private:
    const Body& body_;
    std::string_view name_;
    GraphRun graph_;
  };

  void RunIn(GraphRun& graph, std::span<Value> inputs, std::span<Value> outputs) const {
    const RunThreadScope thread(run_);
    graph.Run(inputs, outputs);
  }

  const BodyPlan& plan_;
  const NodeProto& node_;
  const RunState& run_;
  std::vector<const Value*> outer_;
  const uint64_t& outer_run_;
};

NodeContext::NodeContext(const GraphPlan& plan, const RunState& run, Frame& frame, std::span<const Value* const> outer)
    : plan_(plan), run_(run), frame_(frame.data()), outer_(outer) {}
NodeContext::~NodeContext() = default;

const BodyRunner& NodeContext::Body(std::string_view name) {
  const auto plan = std::ranges::find(node_->bodies, name, [](const auto& body) { return body->attribute; });
  if (plan == node_->bodies.end()) FailAttribute(name, "is missing");
  const BodyPlan& found = **plan;
  if (bodies_.empty()) bodies_.resize(plan_.body_count);
  std::unique_ptr<class Body>& body = bodies_[found.index];
  if (body == nullptr) {
    // Where a value is found stays the same for as long as this frame is used.
    std::vector<const Value*> outer;
    outer.reserve(found.captures.size());
    for (const ValueRef& ref : found.captures) outer.push_back(&At(ref));
    body = std::make_unique<class Body>(found, node(), run_, std::move(outer), graph_run_);
  }
  return *body;
}

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
              std::span<Value> outputs, const uint64_t* outer_run) {
  GraphRun(plan, run, outer, outer_run).Run(inputs, outputs);
}

}  // namespace ONNX_LIGHT_NAMESPACE
