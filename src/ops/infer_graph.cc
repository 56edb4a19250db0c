// SPDX-License-Identifier: Apache-2.0
#include "ops/infer_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "onnx_optim/shapes/shape_inference.h"
#include "onnxseq/errors.h"
#include "onnxseq/versions.h"
#include "ops/declared_types.h"
#include "ops/infer_node.h"
#include "ops/op_body.h"

namespace ONNX_LIGHT_NAMESPACE {

using onnx_optim::shapes::Problem;

namespace {

// Bodies within bodies, functions within functions.
constexpr int kMaxDepth = 64;
// Nodes inferred inside bodies and functions during one walk: what calls that double at each level must not exceed.
constexpr int64_t kMaxInnerNodes = 200'000;
constexpr size_t kMaxProblems = 1000;
// Bodies and calls whose values are kept.
constexpr size_t kMaxRecords = 20'000;

std::string_view DomainName(const NodeProto& node) {
  return node.domain() == "ai.onnx" ? std::string_view() : std::string_view(node.domain());
}

void AddProblemOnce(ShapesContext& ctx, Problem::Level level, std::string message) {
  if (ctx.Problems().size() >= kMaxProblems) return;
  for (const Problem& problem : ctx.Problems()) {
    if (problem.level == level && problem.message == message) return;
  }
  ctx.AddProblem(level, std::move(message));
}

// Adds the outer names a body uses: what it and the bodies inside read or hand out, less what each defines itself.
void CollectNames(const GraphProto& graph, int depth, std::vector<std::string_view>& names) {
  if (depth > kMaxDepth) return;
  std::vector<std::string_view> used;
  std::unordered_set<std::string_view> own;
  for (const ValueInfoProto& input : graph.input()) own.insert(input.name());
  for (const TensorProto& tensor : graph.initializer()) own.insert(tensor.name());
  for (const SparseTensorProto& tensor : graph.sparse_initializer()) own.insert(tensor.values().name());
  for (const ValueInfoProto& output : graph.output()) used.push_back(output.name());
  for (const NodeProto& node : graph.node()) {
    used.insert(used.end(), node.input().begin(), node.input().end());
    own.insert(node.output().begin(), node.output().end());
    for (const AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) CollectNames(attribute.g(), depth + 1, used);
      for (const GraphProto& inner : attribute.graphs()) CollectNames(inner, depth + 1, used);
    }
  }
  for (const std::string_view name : used) {
    if (!own.contains(name)) names.push_back(name);
  }
}

std::vector<std::string_view> NamesUsed(const NodeProto& node) {
  std::vector<std::string_view> names(node.input().begin(), node.input().end());
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) CollectNames(attribute.g(), 0, names);
    for (const GraphProto& graph : attribute.graphs()) CollectNames(graph, 0, names);
  }
  return names;
}

}  // namespace

NodeOrder OrderNodes(const GraphProto& graph) {
  const size_t count = graph.node().size();
  NodeOrder result;
  result.order.reserve(count);
  std::unordered_map<std::string_view, size_t> producer;
  std::set<std::string_view> outside;
  for (const ValueInfoProto& input : graph.input()) outside.insert(input.name());
  for (const TensorProto& tensor : graph.initializer()) outside.insert(tensor.name());
  producer.reserve(count * 2);
  for (size_t i = 0; i < count; ++i) {
    const auto& outputs = graph.node(i).output();
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (outputs[k].empty()) continue;
      if (outside.contains(outputs[k]) || !producer.emplace(outputs[k], i).second) result.repeated.emplace_back(i, k);
    }
  }
  std::vector<std::vector<size_t>> users(count);
  std::vector<size_t> waits_for(count, 0);
  bool sorted = true;
  for (size_t i = 0; i < count; ++i) {
    for (const std::string_view name : NamesUsed(graph.node(i))) {
      const auto it = name.empty() ? producer.end() : producer.find(name);
      if (it == producer.end()) continue;
      if (it->second >= i) sorted = false;
      users[it->second].push_back(i);
      ++waits_for[i];
    }
  }
  if (sorted) {
    for (size_t i = 0; i < count; ++i) result.order.push_back(i);
    return result;
  }
  std::set<size_t> ready;  // the first node that can go comes first: as near to the file's order as may be
  for (size_t i = 0; i < count; ++i) {
    if (waits_for[i] == 0) ready.insert(i);
  }
  while (!ready.empty()) {
    const size_t i = *ready.begin();
    ready.erase(ready.begin());
    result.order.push_back(i);
    for (const size_t user : users[i]) {
      if (--waits_for[user] == 0) ready.insert(user);
    }
  }
  for (size_t i = 0; i < count && result.order.size() < count; ++i) {
    if (waits_for[i] == 0) continue;
    if (result.in_cycle < 0) result.in_cycle = static_cast<int64_t>(i);
    result.order.push_back(i);
  }
  return result;
}

GraphInference::GraphInference(Mode mode, InferenceRecord* record) : mode_(mode), record_(record) {
  body_inference_ = [this](InferScope& scope, const GraphProto& body, std::span<const ShapeValue> inputs,
                           const BodyOptions& options) { return InferBody(scope, body, inputs, options); };
}

// A step into a body or function of the node being inferred; its end puts the walk back where it stood.
class GraphInference::Descent {
 public:
  // Throws InvalidArgument when it goes too deep.
  Descent(GraphInference& inference, const std::string& step) : inference_(inference), outer_(inference.at_) {
    if (outer_.depth >= kMaxDepth)
      throw InvalidArgument(fmt::format("bodies and functions are nested more than {} deep", kMaxDepth));
    inference_.at_.path += step;
    ++inference_.at_.depth;
  }
  ~Descent() { inference_.at_ = std::move(outer_); }
  Descent(const Descent&) = delete;
  Descent& operator=(const Descent&) = delete;

 private:
  GraphInference& inference_;
  Position outer_;
};

void GraphInference::SetUnknown(ShapesContext& ctx, const NodeProto& node) {
  for (const String& output : node.output()) {
    if (!output.empty()) ctx.SetValue(output, ShapeValue());
  }
}

void GraphInference::Node(ShapesContext& ctx, const NodeProto& node, int64_t index) {
  if (mode_ == Mode::kThrow) return InferNode(ctx, node, index);
  // A body may be walked several times; the nodes of a main graph are met once.
  const auto note = [&](Problem::Level level, std::string message) {
    if (at_.depth > 0) return AddProblemOnce(ctx, level, std::move(message));
    if (ctx.Problems().size() < kMaxProblems) ctx.AddProblem(level, std::move(message));
  };
  try {
    InferNode(ctx, node, index);
    return;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const Unsupported& e) {
    note(Problem::Level::kWarning, e.what());
  } catch (Error& e) {
    e.AddNode(node.op_type(), node.name());
    note(Problem::Level::kError, e.what());
  } catch (const std::exception& e) {  // a custom rule's
    InvalidArgument error(e.what());
    error.AddNode(node.op_type(), node.name());
    note(Problem::Level::kError, error.Error::what());
  }
  SetUnknown(ctx, node);
}

void GraphInference::InferNode(ShapesContext& ctx, const NodeProto& node, int64_t index) {
  at_.node_index = index;
  if (at_.depth > 0 && ++inner_nodes_ > kMaxInnerNodes) {
    throw InvalidArgument(fmt::format("bodies and functions hold more than {} nodes in all", kMaxInnerNodes));
  }
  const std::string_view domain = DomainName(node);
  if (const auto* custom = ctx.GetCustomShapeInferenceFunction(domain, node.op_type())) return (*custom)(ctx, node);
  if (const FunctionProto* function = ctx.GetLocalFunction(domain, node.op_type(), node.overload())) {
    return InferFunction(ctx, node, index, *function);
  }
  const int64_t set_opset = ctx.OpsetVersion(domain);
  const int64_t opset = set_opset != 0 ? set_opset : domain.empty() ? kMaxOpset : INT64_MAX;
  const OpDef* op = FindOp(domain, node.op_type(), opset);
  if (op == nullptr) {
    const std::string where = domain.empty() ? "" : fmt::format(" of domain \"{}\"", domain);
    Unsupported error(KnowsOp(domain, node.op_type())
                          ? fmt::format("operator{} is not in operator set {}", where, opset)
                          : fmt::format("operator{} is not supported", where));
    error.AddNode(node.op_type(), node.name());
    throw error;
  }
  if (op->body == nullptr) return Rule(ctx, node, *op);
  const FormalNameLists names(*op);
  CheckCall(InferScope(ctx, node, names.names(), &body_inference_), *op);
  InferFunction(ctx, node, index, OpBody(*op, node, opset));
}

void GraphInference::CheckCall(const InferScope& scope, const OpDef& op) const {
  const NodeProto& node = scope.node();
  CheckNode(op, node);
  for (int i = 0; i < node.input_size(); ++i) {
    if (scope.HasInput(i) && !scope.IsDefined(i)) scope.FailMissing(scope.InputSubject(i), "is not defined");
  }
  CheckInputTypes(op, scope);
}

void GraphInference::Rule(ShapesContext& ctx, const NodeProto& node, const OpDef& op) {
  const FormalNameLists names(op);
  InferScope scope(ctx, node, names.names(), &body_inference_);
  // The documented functions say themselves what is wrong, in their order; schema arity is the model walk's business.
  if (mode_ == Mode::kRecord || !IsDocumentedOp(op)) CheckCall(scope, op);
  if (mode_ == Mode::kRecord) {
    for (const std::string& attribute : UnknownAttributes(op, node)) {
      scope.Warn(fmt::format("attribute '{}'", attribute), "is not known to this operator");
    }
  }
  try {
    op.shape(scope);
  } catch (Error& e) {
    if (mode_ == Mode::kRecord) scope.CommitWarnings();
    e.AddNode(node.op_type(), node.name());
    throw;
  }
  scope.Commit();
}

void GraphInference::InferFunction(ShapesContext& ctx, const NodeProto& node, int64_t index,
                                   const FunctionProto& function) {
  const GraphProto body = InstantiateFunction(function, node);
  ShapesContext inside = ctx.ChildScope();
  for (const OperatorSetIdProto& import : function.opset_import())
    inside.SetOpsetVersion(import.domain(), import.version());
  for (size_t i = 0; i < body.input().size(); ++i) {
    ShapeValue value;
    if (i < node.input().size() && !node.input(i).empty()) {
      const ShapeValue* found = ctx.Find(node.input(i));
      if (found == nullptr) {
        throw OutOfRange("is not defined", ErrorWhere{.op_type = node.op_type().as_string(),
                                                      .node_name = node.name().as_string(),
                                                      .subject = fmt::format("input {} '{}' (\"{}\")", i,
                                                                             std::string_view(body.input(i).name()),
                                                                             std::string_view(node.input(i))),
                                                      .path = {}});
      }
      value = *found;
    }
    inside.SetValue(body.input(i).name(), std::move(value));
  }
  std::string place = fmt::format("in function {}", std::string_view(function.name()));
  if (!node.name().empty()) place += fmt::format(" called by \"{}\"", std::string_view(node.name()));
  const Descent descent(*this, fmt::format("/{}", NodePathName(node, index)));
  try {
    ++at_.functions;
    WalkNodes(inside, body, {});
    Keep(inside, nullptr, at_.path);
  } catch (Error& e) {
    e.AddNode(node.op_type(), node.name());
    e.AddPath(place);
    throw;
  }
  for (const Problem& problem : inside.Problems()) AddProblemOnce(ctx, problem.level, problem.message + " " + place);
  for (size_t i = 0; i < node.output().size(); ++i) {
    if (node.output(i).empty()) continue;
    const ShapeValue* found = inside.Find(body.output(i).name());
    ctx.SetValue(node.output(i), found == nullptr ? ShapeValue() : InferScope::Simplified(inside, *found));
  }
  // A function's nodes run whenever the call does: what they need is true outside as well.
  for (const auto& fact : inside.Constraints()) {
    if (fact.kind == onnx_optim::shapes::Constraint::Kind::kEqual) {
      ctx.AddConstraint(fact.a, fact.b, fact.origin);
    } else {
      ctx.AddLessEqualConstraint(fact.a, fact.b, fact.origin);
    }
  }
}

std::vector<ShapeValue> GraphInference::InferBody(InferScope& scope, const GraphProto& body,
                                                  std::span<const ShapeValue> inputs, const BodyOptions& options) {
  const std::string place = BodyPlace(scope.node(), body);
  ShapesContext inside = scope.context().ChildScope();
  std::set<std::string_view> bound;
  for (size_t i = 0; i < body.input().size() && i < inputs.size(); ++i) {
    const std::string& name = body.input(i).name();
    bound.insert(name);
    if (i < options.sequences.size() && options.sequences[i].IsSequence()) {
      inside.Set(name, inputs[i].ToOptimTensor());
      inside.SetSequence(name, options.sequences[i].ToOptimSequence());
    } else {
      inside.SetValue(name, inputs[i]);
    }
    if (!options.report || !scope.exact() || !body.input(i).has_type()) continue;
    if (Contradiction(inputs[i], body.input(i).type(), inside)) {
      scope.AddWarning(fmt::format("body input {} (\"{}\"): is {}, declared {} {}", i, name,
                                   InferScope::Describe(inputs[i]), DescribeType(body.input(i).type()), place));
    }
  }
  std::vector<ShapeValue> outputs;
  try {
    const Descent descent(*this, fmt::format("/{}/{}", NodePathName(scope.node(), at_.node_index),
                                             BodyAttributeName(scope.node(), body)));
    at_.recording = at_.recording && options.record;
    BindInitializers(inside, body, bound);
    WalkNodes(inside, body, {});
    for (size_t i = 0; i < body.output().size(); ++i) {
      const std::string& name = body.output(i).name();
      const ShapeValue* found = inside.Find(name);
      if (found == nullptr) {
        throw InvalidArgument("is not produced", ErrorWhere{.op_type = scope.node().op_type().as_string(),
                                                            .node_name = scope.node().name().as_string(),
                                                            .subject = fmt::format("body output {} (\"{}\")", i, name),
                                                            .path = {}});
      }
      outputs.push_back(InferScope::Simplified(inside, *found));
    }
    Keep(inside, at_.functions == 0 ? &body : nullptr, at_.path);
  } catch (Error& e) {
    e.AddPath(place);
    throw;
  }
  if (!options.report) return outputs;
  for (const Problem& problem : inside.Problems()) {
    std::string message = problem.message + " " + place;
    if (problem.level == Problem::Level::kWarning) {
      scope.AddWarning(std::move(message));
    } else {
      AddProblemOnce(scope.context(), problem.level, std::move(message));
    }
  }
  return outputs;
}

void GraphInference::Keep(const ShapesContext& ctx, const GraphProto* graph, const std::string& path) {
  if (record_ == nullptr || !at_.recording) return;
  if (record_->bodies.size() >= kMaxRecords && !record_of_path_.contains(path)) return;
  const auto [it, is_new] = record_of_path_.try_emplace(path, record_->bodies.size());
  if (is_new) record_->bodies.push_back({path, graph, {}});
  BodyRecord& body = record_->bodies[it->second];
  body.values.clear();
  for (const std::string& name : ctx.Names())
    body.values.emplace(name, InferScope::Simplified(ctx, ctx.GetValue(name)));
}

void GraphInference::BindInitializers(ShapesContext& ctx, const GraphProto& graph,
                                      const std::set<std::string_view>& except) {
  const auto bind = [&](const std::string& name, auto make) {
    if (name.empty() || except.contains(name)) return;
    try {
      ctx.SetValue(name, make());
    } catch (const Error& e) {
      if (mode_ == Mode::kThrow) throw;
      AddProblemOnce(ctx, Problem::Level::kError, e.what());
      ctx.SetValue(name, ShapeValue());
    }
  };
  for (const TensorProto& tensor : graph.initializer()) {
    bind(tensor.name(), [&] { return ConstantShapeValue(tensor); });
  }
  for (const SparseTensorProto& sparse : graph.sparse_initializer()) {
    bind(sparse.values().name(), [&] {
      TensorProto dense;  // what it stands for: the same type, its own dims, no data
      dense.set_name(sparse.values().name());
      dense.set_data_type(sparse.values().data_type());
      dense.set_data_location(TensorProto::EXTERNAL);
      dense.ref_dims() = sparse.dims();
      return ConstantShapeValue(dense);
    });
  }
}

void GraphInference::WalkNodes(ShapesContext& ctx, const GraphProto& graph, const Declared& declared) {
  const NodeOrder nodes = OrderNodes(graph);
  if (nodes.in_cycle >= 0) {
    const NodeProto& node = graph.node(static_cast<size_t>(nodes.in_cycle));
    InvalidArgument error("depends on its own output");
    error.AddNode(node.op_type(), node.name());
    if (mode_ == Mode::kThrow) throw error;
    AddProblemOnce(ctx, Problem::Level::kError, error.Error::what());
  }
  for (const auto& [i, k] : nodes.repeated) {
    const NodeProto& node = graph.node(i);
    const InvalidArgument error("is defined already",
                                {node.op_type().as_string(),
                                 node.name().as_string(),
                                 fmt::format("output {} (\"{}\")", k, std::string_view(node.output(k))),
                                 {}});
    if (mode_ == Mode::kThrow) throw error;
    AddProblemOnce(ctx, Problem::Level::kError, error.Error::what());
  }
  for (const size_t i : nodes.order) {
    const NodeProto& node = graph.node(i);
    Node(ctx, node, static_cast<int64_t>(i));
    if (declared.empty()) continue;
    for (size_t k = 0; k < node.output().size(); ++k) {
      const auto it = declared.find(node.output(k));
      if (it == declared.end()) continue;
      const std::string subject = fmt::format("output {} (\"{}\")", k, std::string_view(node.output(k)));
      CompareWithDeclared(ctx, node.output(k), *it->second,
                          {node.op_type().as_string(), node.name().as_string(), subject, {}});
    }
  }
}

void GraphInference::MainGraph(ShapesContext& ctx, const GraphProto& graph, bool defaults_are_constant) {
  std::set<std::string_view> inputs;
  for (const ValueInfoProto& input : graph.input()) {
    inputs.insert(input.name());
    if (input.has_type()) DeclareSymbols(input.type(), ctx);
  }
  for (const ValueInfoProto& input : graph.input()) {
    if (input.name().empty() || ctx.HasValue(input.name())) continue;
    ShapeValue value;
    try {
      CheckDims(input.type());
      if (input.has_type()) value = FromTypeProto(input.type(), ctx);
    } catch (const Error& e) {
      AddProblemOnce(ctx, Problem::Level::kError,
                     fmt::format("graph input \"{}\": {}", std::string_view(input.name()), e.what()));
    }
    ctx.SetValue(input.name(), std::move(value));
  }
  BindInitializers(ctx, graph, defaults_are_constant ? std::set<std::string_view>() : inputs);
  Declared declared;
  if (ctx.IsExact()) {
    for (const ValueInfoProto& info : graph.value_info()) {
      if (info.has_type()) declared.emplace(info.name(), &info.type());
    }
    for (const ValueInfoProto& output : graph.output()) {
      if (output.has_type()) declared.insert_or_assign(output.name(), &output.type());
    }
  }
  WalkNodes(ctx, graph, declared);
  for (const ValueInfoProto& output : graph.output()) {
    if (!output.name().empty() && !ctx.HasValue(output.name())) {
      AddProblemOnce(ctx, Problem::Level::kError,
                     fmt::format("graph output \"{}\": no node produces it", std::string_view(output.name())));
      continue;
    }
    const bool outside = inputs.contains(output.name()) ||
                         std::any_of(graph.initializer().begin(), graph.initializer().end(),
                                     [&](const TensorProto& tensor) { return tensor.name() == output.name(); });
    if (outside && output.has_type() && ctx.IsExact()) {
      CompareWithDeclared(ctx, output.name(), output.type(),
                          {{}, {}, fmt::format("graph output \"{}\"", std::string_view(output.name())), {}});
    }
  }
}

void InferModel(ShapesContext& ctx, const ModelProto& model, InferenceRecord* record) {
  if (!model.has_graph()) throw InvalidArgument("the model has no graph");
  ctx.SetPrecision(onnx_optim::shapes::Precision::kExact);
  for (const OperatorSetIdProto& import : model.opset_import()) ctx.SetOpsetVersion(import.domain(), import.version());
  for (const FunctionProto& function : model.functions()) ctx.SetLocalFunction(function);
  GraphInference inference(GraphInference::Mode::kRecord, record);
  inference.MainGraph(ctx, model.graph(), model.ir_version() > 0 && model.ir_version() < 4);
  if (ctx.Constraints().empty()) return;
  // Facts found late say more of what was inferred early.
  for (const std::string& name : ctx.Names()) {
    const ShapeValue& value = ctx.GetValue(name);
    ShapeValue simpler = InferScope::Simplified(ctx, value);
    if (!(simpler == value)) ctx.SetValue(name, std::move(simpler));
  }
}

namespace onnx_optim {
namespace shapes {

void ComputeShapeNode(ShapesContext& ctx, const NodeProto& node) {
  GraphInference(GraphInference::Mode::kThrow).Node(ctx, node, 0);
}

void ComputeShapeGraph(ShapesContext& ctx, const GraphProto& graph) {
  GraphInference(GraphInference::Mode::kRecord).MainGraph(ctx, graph);
}

void ComputeShapeModel(ShapesContext& ctx, const ModelProto& model) { InferModel(ctx, model, nullptr); }

}  // namespace shapes
}  // namespace onnx_optim

}  // namespace ONNX_LIGHT_NAMESPACE
