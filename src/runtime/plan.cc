// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "graph/captures.h"
#include "graph/graph_index.h"
#include "model/domain.h"
#include "onnxseq/errors.h"
#include "ops/evaluate.h"
#include "ops/infer_node.h"
#include "ops/run_context.h"
#include "runtime/node_cost.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using Source = GraphIndex::Source;

// Results of nodes with constant inputs are kept up to this size; larger ones are computed in each run, which frees
// them again.
constexpr int64_t kMaxFoldedBytes = 16 << 20;

class Preparation : public PrepareContext {
 public:
  Preparation(const NodeProto& node, int64_t opset, std::vector<const Tensor*> constants, std::vector<TensorType> types,
              const PlanOptions& options)
      : node_(node), opset_(opset), constants_(std::move(constants)), types_(std::move(types)), options_(options) {}
  const NodeProto& node() const override { return node_; }
  int64_t opset() const override { return opset_; }
  const Tensor* ConstantInput(int i) const override {
    return InRange(i) ? constants_[static_cast<size_t>(i)] : nullptr;
  }
  TensorType InputType(int i) const override {
    return InRange(i) ? types_[static_cast<size_t>(i)] : TensorType::kUndefined;
  }
  bool flush_denormals() const override { return options_.flush_denormals; }
  WeightStorage weight_storage() const override { return options_.weight_storage; }

 private:
  bool InRange(int i) const { return i >= 0 && static_cast<size_t>(i) < types_.size(); }
  const NodeProto& node_;
  int64_t opset_;
  std::vector<const Tensor*> constants_;
  std::vector<TensorType> types_;
  const PlanOptions& options_;
};

// A graph being planned, as the bodies inside it see it.
struct Scope {
  const GraphIndex* index;
  const GraphPlan* plan;
  const std::vector<ValueRef>* refs;
  const Scope* outer;
};

class Planner {
 public:
  Planner(const ModelProto& model, const TypeKnowledge& types, const PlanOptions& options)
      : model_(model), types_(types), options_(options), captures_(model.graph()) {
    for (const OperatorSetIdProto& import : model.opset_import()) opsets_[Domain(import.domain())] = import.version();
  }

  std::unique_ptr<GraphPlan> Run() {
    auto plan = std::make_unique<GraphPlan>();
    const GraphIndex index(model_.graph(), captures_,
                           false);  // names first: nothing else can be said of a graph they fail in
    FindOps(model_.graph());
    if (!unsupported_.empty())
      throw Unsupported(fmt::format("{} operator{} cannot run: {}", unsupported_.size(),
                                    unsupported_.size() == 1 ? "" : "s", fmt::join(unsupported_, ", ")));
    PlanGraph(index, nullptr, *plan, nullptr, false);
    return plan;
  }

 private:
  int64_t OpsetOf(const NodeProto& node) const {
    const auto it = opsets_.find(Domain(node.domain()));
    return it == opsets_.end() ? -1 : it->second;
  }

  const CustomOps::Entry* CustomOpOf(const NodeProto& node) const {
    return options_.custom_ops == nullptr ? nullptr : options_.custom_ops->Find(Domain(node.domain()), node.op_type());
  }

  void FindOps(const GraphProto& graph) {
    for (const NodeProto& node : graph.node()) {
      const int64_t opset = OpsetOf(node);
      const OpDef* op = opset < 0 ? nullptr : FindOp(Domain(node.domain()), node.op_type(), opset);
      if (const CustomOps::Entry* custom = opset < 0 ? nullptr : CustomOpOf(node)) op = &custom->def;
      if (op != nullptr) {
        ops_.emplace(&node, op);
      } else if (std::string name = fmt::format("{}.{}", node.domain().as_string(), node.op_type().as_string());
                 named_.emplace(std::move(name), true).second) {
        unsupported_.push_back(WhyNot(node, opset));
      }
      ForEachBody(node, [&](const AttributeProto&, const GraphProto& body) { FindOps(body); });
    }
  }

  // "LSTMM of ai.onnx 17 (node "a")"
  std::string WhyNot(const NodeProto& node, int64_t opset) const {
    const std::string_view domain =
        Domain(node.domain()).empty() ? std::string_view("ai.onnx") : std::string_view(node.domain());
    std::string text = node.op_type().empty() ? std::string("a node without operator") : node.op_type().as_string();
    text += opset < 0 ? fmt::format(" of {}, which the model does not import", domain)
                      : fmt::format(" of {} {}", domain, opset);
    if (opset >= 0 && KnowsOp(Domain(node.domain()), node.op_type())) text += ", known in other versions only";
    if (!node.name().empty()) text += fmt::format(" (node \"{}\")", node.name().as_string());
    return text;
  }

  bool AnyRandom(const NodeProto& node) const {
    bool random = ops_.at(&node)->random;
    ForEachBody(node, [&](const AttributeProto&, const GraphProto& body) {
      random = random || std::ranges::any_of(body.node(), [&](const NodeProto& inner) { return AnyRandom(inner); });
    });
    return random;
  }

  // Per node: all it uses, through its bodies too, comes from outside the body, is constant, or made by such nodes.
  std::vector<bool> InvariantNodes(const GraphIndex& index, const std::vector<ValueRef>& refs) const {
    std::vector<bool> invariant(static_cast<size_t>(index.node_size()), false);
    const auto same = [&](int id) {
      if (id == GraphIndex::kAbsent || refs[static_cast<size_t>(id)].kind != ValueRef::Kind::kAbsent) return true;
      const int producer = index.producer(id);
      return producer != GraphIndex::kAbsent && invariant[static_cast<size_t>(producer)];
    };
    for (const int n : index.order())
      invariant[static_cast<size_t>(n)] = std::ranges::all_of(index.inputs(n), same) &&
                                          std::ranges::all_of(index.captured(n), same) &&
                                          !AnyRandom(index.graph().node(static_cast<size_t>(n)));
    return invariant;
  }

  // `captures`: where the values this body captures are in the graph around it.
  void PlanGraph(const GraphIndex& index, const Scope* outer, GraphPlan& plan, std::vector<ValueRef>* captures,
                 bool repeats) {
    const GraphProto& graph = index.graph();
    plan.graph = &graph;
    std::vector<ValueRef> refs(static_cast<size_t>(index.value_size()));
    const Scope scope{&index, &plan, &refs, outer};
    BindConstants(index, outer != nullptr, plan, refs);
    if (outer != nullptr) BindOuter(index, *outer, plan, refs, *captures);

    std::vector<bool> invariant(static_cast<size_t>(index.node_size()), false);
    if (repeats) invariant = InvariantNodes(index, refs);
    const auto is_invariant = [&](int n) { return n != GraphIndex::kAbsent && invariant[static_cast<size_t>(n)]; };
    std::vector<int> order;
    for (const bool once : {true, false})
      std::ranges::copy_if(index.order(), std::back_inserter(order), [&](int n) { return is_invariant(n) == once; });

    constexpr int kNever = std::numeric_limits<int>::max();
    std::vector<int> last_use(refs.size(), -1);  // position in the running order, -1 for none
    int position = 0;
    for (const int n : order) {
      // What is computed once is kept for all runs.
      const auto use = [&](int id) {
        if (id == GraphIndex::kAbsent) return;
        last_use[static_cast<size_t>(id)] = is_invariant(index.producer(id)) && !is_invariant(n) ? kNever : position;
      };
      for (const int id : index.inputs(n)) use(id);
      for (const int id : index.captured(n)) use(id);
      for (const int id : index.outputs(n))
        if (options_.keep_values && id != GraphIndex::kAbsent) last_use[static_cast<size_t>(id)] = position;
      ++position;
    }
    for (const int id : index.graph_outputs()) last_use[static_cast<size_t>(id)] = kNever;

    std::vector<int32_t> free_slots;
    int32_t slots = 0;
    const auto take_slot = [&] {
      if (free_slots.empty()) return slots++;
      const int32_t slot = free_slots.back();
      free_slots.pop_back();
      return slot;
    };
    for (int i = 0; i < graph.input_size(); ++i) {
      ValueRef& ref = refs[static_cast<size_t>(i)];  // inputs are numbered first
      const bool used = last_use[static_cast<size_t>(i)] >= 0 && ref.kind == ValueRef::Kind::kAbsent;
      if (used) ref = {ValueRef::Kind::kSlot, false, take_slot()};
      plan.inputs.push_back(used ? ref.index : -1);
    }
    position = -1;
    for (const int n : order) {
      ++position;
      NodePlan node = PlanNode(n, scope, last_use, position);
      if (Fold(n, index, plan, node, refs)) continue;
      for (const int id : index.outputs(n)) {
        const bool used = id != GraphIndex::kAbsent && last_use[static_cast<size_t>(id)] >= 0;
        node.outputs.push_back(used ? take_slot() : -1);
        if (used) refs[static_cast<size_t>(id)] = {ValueRef::Kind::kSlot, false, node.outputs.back()};
      }
      const auto die = [&](int id) {
        if (id == GraphIndex::kAbsent || last_use[static_cast<size_t>(id)] != position) return;
        last_use[static_cast<size_t>(id)] = kNever;  // once
        const ValueRef& ref = refs[static_cast<size_t>(id)];
        if (ref.kind != ValueRef::Kind::kSlot) return;
        node.release.push_back(ref.index);
        free_slots.push_back(ref.index);
      };
      for (const int id : index.inputs(n)) die(id);
      for (const int id : index.captured(n)) die(id);
      for (const int id : index.outputs(n)) die(id);
      for (const auto& body : node.bodies) body->index = plan.body_count++;
      if (is_invariant(n)) {
        plan.invariant.push_back(std::move(node));
        continue;
      }
      plan.nanoseconds += NodeNanoseconds(*node.node, graph, types_);
      for (const auto& body : node.bodies) plan.nanoseconds += body->graph.nanoseconds;
      plan.nodes.push_back(std::move(node));
    }
    std::vector<bool> taken(static_cast<size_t>(slots), false);
    for (const int id : index.graph_outputs()) {
      const ValueRef& ref = refs[static_cast<size_t>(id)];
      plan.outputs.push_back(ref);
      plan.output_types.push_back(TypeOf(scope, id));
      plan.output_shapes.push_back(ShapeOf(scope, id));
      if (ref.kind == ValueRef::Kind::kSlot && is_invariant(index.producer(id)))
        taken[static_cast<size_t>(ref.index)] = true;
    }
    for (size_t i = plan.outputs.size(); i-- > 0;) {  // the last of several outputs that are one value may take it
      ValueRef& ref = plan.outputs[i];
      if (ref.kind != ValueRef::Kind::kSlot || taken[static_cast<size_t>(ref.index)]) continue;
      ref.last = taken[static_cast<size_t>(ref.index)] = true;
    }
    plan.frames.SetSlots(static_cast<size_t>(slots));
  }

  static ValueRef AddConstant(GraphPlan& plan, Value value) {
    plan.constants.push_back(std::move(value));
    return {ValueRef::Kind::kConstant, false, static_cast<int32_t>(plan.constants.size() - 1)};
  }

  void BindConstants(const GraphIndex& index, bool is_body, GraphPlan& plan, std::vector<ValueRef>& refs) {
    const auto bind = [&](std::string_view name, auto read) {
      const int id = index.Find(name);
      if (index.source(id) == Source::kInput && (is_body || options_.defaults_are_inputs)) return;
      refs[static_cast<size_t>(id)] = AddConstant(plan, read());
    };
    for (const TensorProto& tensor : index.graph().initializer())
      bind(tensor.name(), [&] { return TensorFromProto(tensor); });
    for (const SparseTensorProto& tensor : index.graph().sparse_initializer())
      bind(tensor.values().name(), [&] { return TensorFromSparse(tensor); });
  }

  static void BindOuter(const GraphIndex& index, const Scope& outer, GraphPlan& plan, std::vector<ValueRef>& refs,
                        std::vector<ValueRef>& captures) {
    for (const int id : index.outer()) {
      ValueRef ref = (*outer.refs)[static_cast<size_t>(outer.index->Find(index.name(id)))];
      if (ref.kind == ValueRef::Kind::kConstant) {
        refs[static_cast<size_t>(id)] = AddConstant(plan, outer.plan->constants[static_cast<size_t>(ref.index)]);
        continue;
      }
      refs[static_cast<size_t>(id)] = {ValueRef::Kind::kOuter, false, static_cast<int32_t>(captures.size())};
      ref.last = false;
      captures.push_back(ref);
    }
  }

  TensorType TypeOf(const Scope& scope, int id) const {
    const ValueRef& ref = (*scope.refs)[static_cast<size_t>(id)];
    if (ref.kind == ValueRef::Kind::kConstant) {
      const Value& value = scope.plan->constants[static_cast<size_t>(ref.index)];
      return value.IsTensor()     ? value.tensor().dtype()
             : value.IsSequence() ? value.sequence().dtype()
                                  : TensorType::kUndefined;
    }
    const std::string_view name = scope.index->name(id);
    const TensorType type = types_.TypeOf(scope.index->graph(), name);
    if (type != TensorType::kUndefined || scope.index->source(id) != Source::kOuter) return type;
    return TypeOf(*scope.outer, scope.outer->index->Find(name));
  }

  OptimShape ShapeOf(const Scope& scope, int id) const {
    const std::string_view name = scope.index->name(id);
    OptimShape shape = types_.ShapeOf(scope.index->graph(), name);
    if (!shape.IsUnknown() || scope.index->source(id) != Source::kOuter) return shape;
    return ShapeOf(*scope.outer, scope.outer->index->Find(name));
  }

  NodePlan PlanNode(int n, const Scope& scope, const std::vector<int>& last_use, int position) {
    const NodeProto& node = scope.index->graph().node(static_cast<size_t>(n));
    NodePlan plan;
    plan.node = &node;
    plan.op = ops_.at(&node);
    CheckNode(*plan.op, node);
    const CustomOps::Entry* const custom = CustomOpOf(node);
    if (custom != nullptr) plan.state = custom->state;
    if (const std::vector<std::string> unknown = UnknownAttributes(*plan.op, node);
        !unknown.empty() && custom == nullptr)
      throw InvalidArgument("is not known to this operator", {.op_type = node.op_type(),
                                                              .node_name = node.name(),
                                                              .subject = fmt::format("attribute '{}'", unknown.front()),
                                                              .path = {}});
    const std::span<const int> inputs = scope.index->inputs(n);
    const std::span<const int> captured = scope.index->captured(n);
    std::vector<const Tensor*> constants;
    std::vector<TensorType> types;
    for (const int id : inputs) {
      ValueRef ref;
      if (id != GraphIndex::kAbsent) {
        ref = (*scope.refs)[static_cast<size_t>(id)];
        ref.last = ref.kind == ValueRef::Kind::kSlot && last_use[static_cast<size_t>(id)] == position &&
                   std::ranges::count(inputs, id) == 1 && std::ranges::count(captured, id) == 0;
      }
      plan.inputs.push_back(ref);
      const Value* constant =
          ref.kind == ValueRef::Kind::kConstant ? &scope.plan->constants[static_cast<size_t>(ref.index)] : nullptr;
      constants.push_back(constant != nullptr && constant->IsTensor() ? &constant->tensor() : nullptr);
      types.push_back(id == GraphIndex::kAbsent ? TensorType::kUndefined : TypeOf(scope, id));
    }
    plan.checks = InputChecks(*plan.op, node);
    if (!plan.op->reads_graphs) PlanBodies(n, scope, plan);
    if (plan.op->prepare == nullptr) return plan;
    try {
      plan.state = plan.op->prepare(Preparation(node, OpsetOf(node), std::move(constants), std::move(types), options_));
    } catch (Error& e) {
      e.AddNode(node.op_type(), node.name());
      throw;
    }
    return plan;
  }

  void PlanBodies(int n, const Scope& scope, NodePlan& plan) {
    const NodeProto& node = *plan.node;
    ForEachBody(node, [&](const AttributeProto& attribute, const GraphProto& body) {
      auto body_plan = std::make_unique<BodyPlan>();
      body_plan->attribute = attribute.name();
      body_plan->graph.path = fmt::format("{}/{}/{}", scope.plan->path, NodePathName(node, n), body_plan->attribute);
      try {
        const GraphIndex body_index(body, captures_, true);
        PlanGraph(body_index, &scope, body_plan->graph, &body_plan->captures, plan.op->repeats_bodies);
        if (options_.sequence_map != SequenceMapStrategy::kElements && plan.op->type == "SequenceMap")
          plan.sequence_map = std::make_unique<SequenceMapPlans>(model_, body, body_plan->graph.path,
                                                                 FindCaptures(body_index, scope), types_, options_);
      } catch (Error& e) {
        e.AddPath(BodyPlace(node, body));
        throw;
      }
      plan.bodies.push_back(std::move(body_plan));
    });
  }

  static MapCaptures FindCaptures(const GraphIndex& body, const Scope& outer) {
    MapCaptures captures;
    for (const int id : body.outer()) {
      const std::string name(body.name(id));
      const ValueRef& ref = (*outer.refs)[static_cast<size_t>(outer.index->Find(name))];
      if (ref.kind != ValueRef::Kind::kConstant) {
        captures.values.emplace_back(name, captures.values.size());  // in the order of BindOuter
        continue;
      }
      const TensorProto* tensor = FindInitializer(outer, name);
      if (const Value& value = outer.plan->constants[static_cast<size_t>(ref.index)];
          tensor == nullptr && value.IsTensor()) {
        captures.made.push_back(std::make_unique<TensorProto>(TensorToProto(value.tensor(), name)));
        tensor = captures.made.back().get();
      }
      captures.constants.emplace_back(name, tensor);
    }
    return captures;
  }
  // The message of a constant; null for one that a node or a sparse message makes.
  static const TensorProto* FindInitializer(const Scope& scope, std::string_view name) {
    for (const Scope* at = &scope; at != nullptr; at = at->outer) {
      if (at->index->source(at->index->Find(name)) == Source::kOuter) continue;
      for (const TensorProto& tensor : at->index->graph().initializer())
        if (tensor.name() == name) return &tensor;
      return nullptr;
    }
    return nullptr;
  }

  // Computes a node whose inputs are all constant, so that its outputs are, too. Whatever fails is left to fail in the
  // run, if the node is ever reached; large results are not kept.
  bool Fold(int n, const GraphIndex& index, GraphPlan& plan, const NodePlan& node, std::vector<ValueRef>& refs) const {
    if (!IsFoldable(*node.op, *node.node)) return false;
    std::vector<Value> inputs;
    for (const ValueRef& ref : node.inputs) {
      if (ref.kind == ValueRef::Kind::kSlot || ref.kind == ValueRef::Kind::kOuter) return false;
      inputs.push_back(ref.kind == ValueRef::Kind::kAbsent ? Value() : plan.constants[static_cast<size_t>(ref.index)]);
    }
    const bool is_constant = node.op->type == "Constant" && node.op->domain.empty();
    std::optional<std::vector<Value>> outputs =
        ONNX_LIGHT_NAMESPACE::Fold(*node.op, *node.node, node.state.get(), std::move(inputs), node.checks,
                                   options_.flush_denormals, is_constant ? 0 : kMaxFoldedBytes);
    if (!outputs) return false;
    const std::span<const int> ids = index.outputs(n);
    FoldedNode& folded = plan.folded.emplace_back();
    folded.node = node.node;
    for (size_t i = 0; i < ids.size(); ++i) {
      folded.outputs.push_back(-1);
      if (ids[i] == GraphIndex::kAbsent) continue;
      const ValueRef ref = AddConstant(plan, std::move((*outputs)[i]));
      refs[static_cast<size_t>(ids[i])] = ref;
      folded.outputs.back() = ref.index;
    }
    return true;
  }

  const ModelProto& model_;
  const TypeKnowledge& types_;
  PlanOptions options_;
  Captures captures_;
  std::unordered_map<std::string_view, int64_t> opsets_;
  std::unordered_map<const NodeProto*, const OpDef*> ops_;
  std::unordered_map<std::string, bool> named_;
  std::vector<std::string> unsupported_;
};

}  // namespace

std::string BodyPlan::Place(const NodeProto& node, std::string_view run_name, int64_t number) const {
  return BodyPlace(node, *graph.graph, run_name, number);
}

std::unique_ptr<GraphPlan> MakePlan(const ModelProto& model, const TypeKnowledge& types, const PlanOptions& options) {
  return Planner(model, types, options).Run();
}

}  // namespace ONNX_LIGHT_NAMESPACE
