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
#include "ops/known_values.h"
#include "ops/op_body.h"

namespace ONNX_LIGHT_NAMESPACE {

using onnx_optim::shapes::Problem;

namespace {

// Bodies within bodies, functions within functions.
constexpr int kMaxDepth = 64;
// Nodes inferred inside bodies and functions during one walk: what calls that double at each level must not exceed.
constexpr int64_t kMaxInnerNodes = 200'000;
constexpr size_t kMaxProblems = 1000;
// Outputs of fewer known elements are not counted.
constexpr size_t kManyElements = 64;
constexpr int64_t kMaxKnownElements = 1'000'000;
// Bodies and calls whose values are kept.
constexpr size_t kMaxRecords = 20'000;

std::string_view DomainName(const NodeProto& node) {
  return node.domain() == "ai.onnx" ? std::string_view() : std::string_view(node.domain());
}

}  // namespace

void AddProblemOnce(ShapesContext& ctx, Problem::Level level, std::string message) {
  if (ctx.Problems().size() >= kMaxProblems) return;
  for (const Problem& problem : ctx.Problems()) {
    if (problem.level == level && problem.message == message) return;
  }
  ctx.AddProblem(level, std::move(message));
}

std::string FunctionKey(std::string_view domain, std::string_view name, std::string_view overload) {
  return fmt::format("{}:{}:{}", domain == "ai.onnx" ? "" : domain, name, overload);
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
    return InferFunction(ctx, node, index, *function, FunctionKey(domain, node.op_type(), node.overload()));
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
  const int64_t onnx_opset = ctx.OpsetVersion({});
  InferFunction(ctx, node, index, OpBody(*op, node, onnx_opset != 0 ? onnx_opset : kMaxOpset), {});
}

void GraphInference::CheckCall(const InferScope& scope, const OpDef& op) const {
  const NodeProto& node = scope.node();
  CheckNode(op, node);
  for (int i = 0; i < node.input_size(); ++i) {
    if (scope.HasInput(i) && !scope.IsDefined(i)) scope.FailMissing(scope.InputSubject(i), "is not defined");
  }
  CheckInputTypes(op, scope);
}

void GraphInference::LimitElements(InferScope& scope) {
  for (int i = 0; i < scope.output_size(); ++i) {
    const ShapeValue* value = scope.Output(i);
    if (value == nullptr) continue;
    const size_t count = value->Elements() != nullptr ? value->Elements()->size()
                         : value->Floats() != nullptr ? value->Floats()->size()
                                                      : 0;
    if (count < kManyElements) continue;
    known_elements_ += static_cast<int64_t>(count);
    if (known_elements_ > kMaxKnownElements) scope.SetOutput(i, value->WithoutValue());
  }
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
    if (scope.exact()) PropagateValues(scope, op);
    LimitElements(scope);
  } catch (Error& e) {
    if (mode_ == Mode::kRecord) scope.CommitWarnings();
    e.AddNode(node.op_type(), node.name());
    throw;
  }
  scope.Commit();
}

void GraphInference::InferFunction(ShapesContext& ctx, const NodeProto& node, int64_t index,
                                   const FunctionProto& function, std::string key) {
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
    at_.in_function = true;
    at_.function = std::move(key);
    at_.function_path = at_.path.size();
    WalkNodes(inside, body, {});
    Keep(inside, nullptr);
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
    Keep(inside, at_.in_function ? nullptr : &body);
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

void GraphInference::Keep(const ShapesContext& ctx, const GraphProto* graph) {
  if (record_ == nullptr || !at_.recording) return;
  const std::string& path = at_.path;
  if (record_->bodies.size() >= kMaxRecords && !record_of_path_.contains(path)) return;
  const auto [it, is_new] = record_of_path_.try_emplace(path, record_->bodies.size());
  if (is_new)
    record_->bodies.push_back(
        {path, graph, at_.function, path.substr(at_.in_function ? at_.function_path : path.size()), {}});
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

}  // namespace ONNX_LIGHT_NAMESPACE
