// SPDX-License-Identifier: Apache-2.0
#include "runtime/inline_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "graph/captures.h"
#include "model/domain.h"
#include "onnxseq/errors.h"
#include "onnxseq/versions.h"
#include "ops/infer_node.h"
#include "ops/op_body.h"
#include "ops/op_def.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using Nodes = RepeatedMessages<NodeProto>;

// How a function is called in messages: "my.scale".
std::string NameOf(const FunctionProto& function) {
  return Domain(function.domain()).empty()
             ? function.name().as_string()
             : fmt::format("{}.{}", function.domain().as_string(), function.name().as_string());
}

int64_t OpsetOf(const ModelProto& model, std::string_view domain) {
  for (const OperatorSetIdProto& import : model.opset_import())
    if (Domain(import.domain()) == domain) return import.version();
  return -1;
}

// The operator of a node that is not a function's call, when it is written as nodes of others.
const OpDef* OpWithBody(const ModelProto& model, const NodeProto& node) {
  const std::string_view domain = Domain(node.domain());
  const OpDef* op = FindOp(domain, node.op_type(), OpsetOf(model, domain));
  return op != nullptr && op->body != nullptr ? op : nullptr;
}

bool HasOpWithBody(const ModelProto& model, const Nodes& nodes, int depth) {
  if (depth > kMaxGraphDepth) throw InvalidArgument(fmt::format("graphs nest deeper than {} levels", kMaxGraphDepth));
  return std::any_of(nodes.begin(), nodes.end(), [&](const NodeProto& node) {
    bool found = OpWithBody(model, node) != nullptr;
    ForEachBody(node, [&](const AttributeProto&, const GraphProto& body) {
      found = found || HasOpWithBody(model, body.node(), depth + 1);
    });
    return found;
  });
}

bool HasBodies(const NodeProto& node) {
  bool found = false;
  ForEachBody(node, [&](const AttributeProto&, const GraphProto&) { found = true; });
  return found;
}

class Inliner {
 public:
  Inliner(ModelProto& model, KeepsOp keep) : model_(model), keep_(keep) {
    for (const FunctionProto& function : model.functions())
      functions_.emplace(Key(Domain(function.domain()), function.name(), function.overload()), &function);
  }

  std::vector<InlinedCall> Run() {
    if (Count() > kMaxExpandedNodes)
      throw InvalidArgument(
          fmt::format("the model has more than {} nodes once its functions are written out", kMaxExpandedNodes));
    GraphProto& graph = *model_.mutable_graph();
    ExpandGraph(graph, {}, 0);
    model_.clear_functions();
    return std::move(calls_);
  }

 private:
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;

  const FunctionProto* Find(const NodeProto& node) const {
    const auto it = functions_.find(Key(Domain(node.domain()), node.op_type(), node.overload()));
    return it == functions_.end() ? nullptr : it->second;
  }

  bool Keeps(const NodeProto& node) const {
    return keep_ != nullptr && keep_(node.domain(), node.op_type(), OpsetOf(model_, Domain(node.domain())));
  }

  // Nodes of a graph and its bodies, and the functions they call; a call counts as no node of its own.
  void Survey(const Nodes& nodes, int depth, int64_t& count, std::vector<const FunctionProto*>& calls) const {
    if (depth > kMaxGraphDepth) throw InvalidArgument(fmt::format("graphs nest deeper than {} levels", kMaxGraphDepth));
    for (const NodeProto& node : nodes) {
      if (const FunctionProto* function = Find(node)) {
        calls.push_back(function);
      } else {
        ++count;
      }
      ForEachBody(node,
                  [&](const AttributeProto&, const GraphProto& body) { Survey(body.node(), depth + 1, count, calls); });
    }
  }

  // Nodes of the model when all calls are replaced, capped; calls nest as deep as the file likes, so no recursion here.
  int64_t Count() {
    struct Level {
      const FunctionProto* function;  // null for the main graph
      int64_t count = 0;
      std::vector<const FunctionProto*> calls;
      size_t next = 0;
    };
    std::unordered_map<const FunctionProto*, int64_t> done;  // -1 while its calls are being counted
    std::vector<Level> stack;
    const auto open = [&](const FunctionProto* function, const Nodes& nodes) {
      Level& level = stack.emplace_back();
      level.function = function;
      Survey(nodes, 0, level.count, level.calls);
      if (function != nullptr) done[function] = -1;
    };
    open(nullptr, std::as_const(model_).graph().node());
    for (;;) {
      Level& level = stack.back();
      if (level.next == level.calls.size()) {
        const int64_t count = level.count;
        const FunctionProto* function = level.function;
        stack.pop_back();
        if (function == nullptr) return count;
        done[function] = count;
        Level& caller = stack.back();
        caller.count = std::min(caller.count + count, kMaxExpandedNodes + 1);
        continue;
      }
      const FunctionProto* callee = level.calls[level.next++];
      const auto it = done.find(callee);
      if (it == done.end()) {
        open(callee, callee->node());
      } else if (it->second < 0) {
        throw InvalidArgument(fmt::format("function {} calls itself", NameOf(*callee)));
      } else {
        level.count = std::min(level.count + it->second, kMaxExpandedNodes + 1);
      }
    }
  }

  // A node's place in the list is part of the path of its bodies when it has no name, and is about to change.
  void NamePaths(Nodes& nodes) const {
    for (size_t i = 0; i < nodes.size(); ++i) {
      NodeProto& node = nodes[i];
      const bool has_path = HasBodies(node) || Find(node) != nullptr || OpWithBody(model_, node) != nullptr;
      if (node.name().empty() && has_path) node.set_name(NodePathName(node, static_cast<int64_t>(i)));
    }
  }

  void ExpandGraph(GraphProto& graph, const std::string& path, int depth) {
    if (depth > kMaxGraphDepth) throw InvalidArgument(fmt::format("graphs nest deeper than {} levels", kMaxGraphDepth));
    NamePaths(graph.node());
    Nodes expanded;
    Nodes pending;  // last first
    pending.swap(graph.node());
    std::vector<size_t> reversed;
    for (size_t i = pending.size(); i-- > 0;) reversed.push_back(i);
    pending.Permute(reversed);
    while (!pending.empty()) {
      NodeProto node = std::move(pending.back());
      pending.pop_back();
      const auto replace_by = [&](Nodes body) {
        while (!body.empty()) {
          pending.push_back(std::move(body.back()));
          body.pop_back();
        }
      };
      if (const FunctionProto* function = Find(node)) {
        CheckOpsets(*function);
        replace_by(Instantiate(*function, node, path));
        continue;
      }
      if (const OpDef* op = OpWithBody(model_, node); op != nullptr && !Keeps(node)) {
        replace_by(InstantiateOp(*op, node, path));
        continue;
      }
      for (AttributeProto& attribute : node.attribute()) {
        const auto expand = [&](GraphProto& body) {
          ExpandGraph(body, fmt::format("{}/{}/{}", path, node.name().as_string(), attribute.name().as_string()),
                      depth + 1);
        };
        if (attribute.has_g()) expand(attribute.ref_g());
        for (GraphProto& body : attribute.graphs()) expand(body);
      }
      expanded.push_back(std::move(node));
    }
    graph.node().swap(expanded);
  }

  // The nodes that stand for the call in the graph at `path`.
  Nodes Instantiate(const FunctionProto& function, const NodeProto& call, const std::string& path) {
    GraphProto body = InstantiateFunction(function, call);
    const std::string prefix = fmt::format("{}__{}/", function.name().as_string(), ++instances_);
    const std::string caller = call.name();
    calls_.push_back({prefix, fmt::format("{}/{}", path, caller)});
    std::unordered_map<std::string, std::string> names;
    for (size_t i = 0; i < body.input().size(); ++i)
      names.emplace(body.input(i).name(), i < call.input().size() ? call.input(i).as_string() : std::string());
    std::vector<std::pair<std::string, std::string>>
        passed;  // outputs that are inputs, or outputs, already: formal, actual
    for (size_t i = 0; i < call.output().size(); ++i) {
      const std::string formal = body.output(i).name();
      const std::string actual = call.output(i);
      if (!actual.empty() && !names.emplace(formal, actual).second) passed.emplace_back(formal, actual);
    }
    Nodes nodes;
    nodes.swap(body.node());
    NamePaths(nodes);
    Rename(nodes, names, prefix, caller);
    for (const auto& [formal, actual] : passed) {
      NodeProto& copy = nodes.add();
      copy.set_op_type("Identity");
      copy.set_name(caller);
      copy.add_input(names.at(formal));
      copy.add_output(actual);
    }
    return nodes;
  }

  // An operator's body is written for the model's operator set and holds a few nodes, so neither is checked. A model
  // that has none yet, having operators of other domains alone, gets the newest.
  Nodes InstantiateOp(const OpDef& op, const NodeProto& node, const std::string& path) {
    try {
      CheckNode(op, node);
      if (OpsetOf(model_, {}) < 0) model_.add_opset_import()->set_version(kMaxOpset);
      return Instantiate(OpBody(op, node, OpsetOf(model_, {})), node, path);
    } catch (Error& e) {
      e.AddNode(node.op_type(), node.name());
      throw;
    }
  }

  // A function is closed: every name in it, at any depth, is one of its own.
  static std::string Renamed(const std::string& name, const std::unordered_map<std::string, std::string>& names,
                             const std::string& prefix) {
    if (name.empty()) return name;
    const auto it = names.find(name);
    return it == names.end() ? prefix + name : it->second;
  }
  static void Rename(Nodes& nodes, const std::unordered_map<std::string, std::string>& names, const std::string& prefix,
                     const std::string& caller) {
    // Long chains of calls would make names, and all of them together, as long as one likes.
    constexpr size_t kMaxCallerName = 200;
    for (NodeProto& node : nodes) {
      if (node.name().empty()) {
        node.set_name(caller);
      } else if (caller.size() <= kMaxCallerName) {
        node.set_name(fmt::format("{}/{}", caller, node.name().as_string()));
      }
      for (String& input : node.input()) input = Renamed(input, names, prefix);
      for (String& output : node.output()) output = Renamed(output, names, prefix);
      for (AttributeProto& attribute : node.attribute()) {
        if (attribute.has_g()) Rename(attribute.ref_g(), names, prefix, caller);
        for (GraphProto& body : attribute.graphs()) Rename(body, names, prefix, caller);
      }
    }
  }
  static void Rename(GraphProto& graph, const std::unordered_map<std::string, std::string>& names,
                     const std::string& prefix, const std::string& caller) {
    for (ValueInfoProto& input : graph.input()) input.set_name(Renamed(input.name(), names, prefix));
    for (ValueInfoProto& output : graph.output()) output.set_name(Renamed(output.name(), names, prefix));
    for (TensorProto& tensor : graph.initializer()) tensor.set_name(Renamed(tensor.name(), names, prefix));
    for (SparseTensorProto& tensor : graph.sparse_initializer())
      tensor.ref_values().set_name(Renamed(tensor.values().name(), names, prefix));
    graph.clear_value_info();
    Rename(graph.node(), names, prefix, caller);
  }

  // The written-out nodes are read with the model's operator sets.
  void CheckOpsets(const FunctionProto& function) {
    if (!checked_.insert(&function).second) return;
    for (const OperatorSetIdProto& import : function.opset_import()) {
      const std::string_view domain = Domain(import.domain());
      const int64_t of_model = OpsetOf(model_, domain);
      if (of_model < 0) {
        OperatorSetIdProto& added = *model_.add_opset_import();
        added.set_domain(String(domain));
        added.set_version(import.version());
      } else if (of_model != import.version()) {
        CheckSameOps(function, function.node(), domain, import.version(), of_model, 0);
      }
    }
  }
  void CheckSameOps(const FunctionProto& function, const Nodes& nodes, std::string_view domain, int64_t mine,
                    int64_t of_model, int depth) const {
    if (depth > kMaxGraphDepth) return;
    for (const NodeProto& node : nodes) {
      if (Domain(node.domain()) == domain && Find(node) == nullptr &&
          FindOp(domain, node.op_type(), mine) != FindOp(domain, node.op_type(), of_model))
        throw Unsupported(fmt::format("function {} imports {} {}, the model {}, and {} differs between them",
                                      NameOf(function), domain.empty() ? "ai.onnx" : domain, mine, of_model,
                                      node.op_type().as_string()));
      ForEachBody(node, [&](const AttributeProto&, const GraphProto& body) {
        CheckSameOps(function, body.node(), domain, mine, of_model, depth + 1);
      });
    }
  }

  ModelProto& model_;
  KeepsOp keep_;
  std::map<Key, const FunctionProto*> functions_;
  std::unordered_set<const FunctionProto*> checked_;
  int64_t instances_ = 0;
  std::vector<InlinedCall> calls_;
};

}  // namespace

bool NeedsInlining(const ModelProto& model) {
  return !model.functions().empty() || HasOpWithBody(model, model.graph().node(), 0);
}

std::vector<InlinedCall> InlineFunctions(ModelProto& model, KeepsOp keep) { return Inliner(model, keep).Run(); }

}  // namespace ONNX_LIGHT_NAMESPACE
