// SPDX-License-Identifier: Apache-2.0
#include "passes/batch/batch_body.h"

#include <algorithm>
#include <ranges>
#include <set>

#include "graph/captures.h"
#include "graph/value_names.h"
#include "model/domain.h"
#include "model/set_attribute.h"
#include "onnx_optim/shapes/shapes_context.h"
#include "onnxseq/errors.h"
#include "ops/infer_graph.h"
#include "ops/infer_node.h"
#include "ops/rnn/is_recurrent.h"
#include "passes/batch/batch_graph.h"
#include "passes/batch/batch_rules.h"
#include "passes/batch/element_model.h"
#include "passes/batch/known_integers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using onnx_optim::shapes::ShapesContext;
using onnx_optim::shapes::ShapeValue;

class CannotBatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Batcher {
 public:
  explicit Batcher(const BatchRequest& request)
      : request_(request), body_(*request.body), element_(ElementModel(request)), captures_(body_) {}

  BatchedBody Run() {
    InferModel(context_, element_, nullptr, false);
    std::unordered_set<std::string> taken;
    AddValueNames(element_.graph(), taken);
    graph_.emplace(*result_.model.mutable_graph(), std::move(taken));
    StartModel();
    Bind();
    const NodeOrder nodes = OrderNodes(body_);
    if (nodes.in_cycle >= 0 || !nodes.repeated.empty()) throw CannotBatch("its nodes have no order");
    order_ = LiveOnes(nodes.order);
    for (size_t p = 0; p < order_.size(); ++p)
      ForEachRead(body_.node(order_[p]), [&](const std::string& name) { last_read_[name] = p; });
    for (const ValueInfoProto& output : body_.output()) last_read_[std::string(output.name())] = order_.size();
    for (position_ = 0; position_ < order_.size(); ++position_) Place(body_.node(order_[position_]));
    Finish();
    return std::move(result_);
  }

 private:
  void StartModel() {
    ModelProto& model = result_.model;
    model.set_ir_version(element_.ir_version());
    for (const OperatorSetIdProto& import : element_.opset_import()) {
      opsets_.emplace(std::string(Domain(import.domain())), import.version());
      *model.add_opset_import() = import;
    }
    OperatorSetIdProto& internal = *model.add_opset_import();
    internal.set_domain(String(kInternalDomain));
    internal.set_version(1);
    opsets_.emplace(kInternalDomain, 1);
    model.mutable_graph()->set_name(element_.graph().name());
    for (const TensorProto& tensor : element_.graph().initializer()) *model.mutable_graph()->add_initializer() = tensor;
  }

  void Bind() {
    GraphProto& graph = graph_->graph();
    for (const TensorProto& tensor : element_.graph().initializer())
      Known(tensor.name(), BatchForm::kUniform, tensor.name());
    if (!body_.sparse_initializer().empty()) throw CannotBatch("it has sparse initializers");
    const OptimDim count = OptimDim::Symbol("N");
    for (size_t i = 0; i < request_.inputs.size(); ++i) {
      const BatchInput& input = request_.inputs[i];
      const std::string name(body_.input(static_cast<int>(i)).name());
      const std::string batched = input.form == BatchForm::kUniform ? name : graph_->NewName(name);
      std::vector<OptimDim> dims = ElementDims(input, InputSymbol(i));
      if (input.form == BatchForm::kStacked) dims.insert(dims.begin(), count);
      if (input.form == BatchForm::kPacked)
        dims[static_cast<size_t>(input.axis)] = OptimDim::Symbol(LengthSymbol(input.lengths) + "_sum");
      *graph.add_input() = Described(batched, input.dtype, dims);
      Known(name, input.form, batched);
      if (input.form == BatchForm::kPacked) result_.lengths = std::max(result_.lengths, input.lengths + 1);
    }
    for (int k = 0; k < result_.lengths; ++k) {
      // Where a node demands that a length be some number, or another one, elements that break this are to be named.
      const OptimDim length = OptimDim::Symbol(LengthSymbol(k)), known = context_.Simplify(length);
      if (known.IsInt()) throw CannotBatch(fmt::format("it takes no other length than {}", known.AsInt()));
      if (known != length) throw CannotBatch("it takes no lengths that differ");
      const std::string name = graph_->NewName(LengthSymbol(k));
      *graph.add_input() = Described(name, TensorType::kInt64, {count});
      graph_->SetLengths(OptimDim::Symbol(LengthSymbol(k)), name);
    }
    graph_->SetCount(graph_->NewName("count"));
    *graph.add_input() = Described(graph_->count(), TensorType::kInt64, {1});
    for (size_t i = 0; i < request_.captures.size(); ++i) {
      const auto& [name, input] = request_.captures[i];
      *graph.add_input() = Described(name, input.dtype, ElementDims(input, CaptureSymbol(i)));
      Known(name, BatchForm::kUniform, name);
    }
  }

  // Nodes of this order that the body's outputs need.
  std::vector<size_t> LiveOnes(std::vector<size_t> order) const {
    std::unordered_set<std::string> read;
    for (const ValueInfoProto& output : body_.output()) read.emplace(output.name());
    std::vector<size_t> live;
    for (const size_t i : order | std::views::reverse) {
      const NodeProto& node = body_.node(i);
      if (std::ranges::none_of(node.output(), [&](const String& name) { return read.contains(std::string(name)); }))
        continue;
      live.push_back(i);
      ForEachRead(node, [&](const std::string& name) { read.insert(name); });
    }
    std::ranges::reverse(live);
    return live;
  }

  const ShapeValue* Inferred(std::string_view name) const { return context_.Find(std::string(name)); }

  // The body's value `name` is `batched` in the new graph.
  Batched& Known(std::string_view name, BatchForm form, std::string batched) {
    Batched& value = values_[std::string(name)];
    value.form = form;
    value.name = std::move(batched);
    if (const ShapeValue* inferred = Inferred(name); inferred != nullptr && inferred->IsTensor()) {
      value.dtype = inferred->Dtype();
      value.shape = context_.Simplify(inferred->Shape());
      if (const auto found = FormOf(value.shape); found && form == BatchForm::kPacked) value.axis = found->second;
    }
    if (form == BatchForm::kStacked || form == BatchForm::kPacked) CountBytes(value);
    return value;
  }

  void CountBytes(const Batched& value) {
    double bytes = 4;
    for (const OptimDim& dim : value.shape) bytes *= dim.IsInt() ? static_cast<double>(dim.AsInt()) : 1;
    double& largest = value.IsPacked() ? result_.bytes_per_unit : result_.fixed_bytes;
    largest = std::max(largest, bytes);
  }

  static bool IsRandom(const NodeProto& node, const std::map<std::string, int64_t, std::less<>>& opsets) {
    const auto opset = opsets.find(Domain(node.domain()));
    const OpDef* op = opset == opsets.end() ? nullptr : FindOp(opset->first, node.op_type(), opset->second);
    bool random = op == nullptr || op->random;
    ForEachBody(node, [&](const AttributeProto&, const GraphProto& body) {
      for (const NodeProto& inner : body.node()) random = random || IsRandom(inner, opsets);
    });
    return random;
  }

  // Calls fn(name) for all the node reads, through its bodies too.
  template <class Fn>
  void ForEachRead(const NodeProto& node, Fn fn) const {
    for (const String& name : node.input())
      if (!name.empty()) fn(std::string(name));
    ForEachBody(node, [&](const AttributeProto&, const GraphProto& body) {
      for (const std::string_view name : captures_.Of(body)) fn(std::string(name));
    });
  }

  void Place(const NodeProto& node) {
    bool uniform = !IsRandom(node, opsets_);
    ForEachRead(node, [&](const std::string& name) {
      const auto it = values_.find(name);
      uniform = uniform && it != values_.end() && it->second.IsUniform();
    });
    if (uniform) {
      *graph_->graph().add_node() = node;
      for (const String& name : node.output())
        if (!name.empty()) Known(name, BatchForm::kUniform, std::string(name));
      return;
    }
    if (PlaceKnown(node)) {
      ++result_.batched_nodes;
      return;
    }
    std::string why = ApplyRule(node);
    if (why.empty()) {
      ++result_.batched_nodes;
      result_.takes_empty = result_.takes_empty && node.op_type() != "Reshape";
      result_.recurrent = result_.recurrent || IsRecurrent(node);
      return;
    }
    result_.per_element.push_back(node.name().empty() ? fmt::format("{}: {}", node.op_type().as_string(), why)
                                                      : fmt::format("{} node \"{}\": {}", node.op_type().as_string(),
                                                                    node.name().as_string(), why));
    pending_.push_back(&node);
  }

  // Small integers that are known, or known up to the lengths, are not computed from elements.
  bool PlaceKnown(const NodeProto& node) {
    if (node.output().size() != 1) return false;
    const std::string name(node.output(0));
    const ShapeValue* inferred = Inferred(name);
    if (inferred == nullptr) return false;
    const auto made = EmitKnownIntegers(*graph_, name, context_.Simplify(*inferred));
    if (made) Known(name, made->form, made->name);
    return made.has_value();
  }

  // Empty when the node is done, or why it is not.
  std::string ApplyRule(const NodeProto& node) {
    const std::string domain(Domain(node.domain()));
    const auto opset = opsets_.find(domain);
    const OpDef* op = opset == opsets_.end() ? nullptr : FindOp(domain, node.op_type(), opset->second);
    if (op == nullptr) return "it is not known";
    if (op->random) return "it is random";
    try {
      CheckNode(*op, node);
    } catch (const Error& e) {
      return e.what();
    }
    const BatchRule rule = FindBatchRule(*op);
    if (rule.apply == nullptr) return "there is no rule for it";
    BatchNode call(*graph_, node, *op);
    for (const String& input : node.input()) {
      call.inputs.emplace_back();
      call.ints.emplace_back();
      if (input.empty()) continue;
      const Batched* value = Ready(std::string(input));
      if (value == nullptr) return fmt::format("\"{}\" has no form for all elements", input.as_string());
      call.inputs.back() = *value;
      if (const ShapeValue* known = Inferred(input); value->IsUniform() && known != nullptr && known->IsTensor()) {
        if (const auto vector = known->VectorValue();
            vector && std::ranges::all_of(*vector, [](const OptimDim& dim) { return dim.IsInt(); })) {
          call.ints.back().emplace();
          for (const OptimDim& dim : *vector) call.ints.back()->push_back(dim.AsInt());
        }
      }
    }
    for (const String& output : node.output()) {
      Batched& value = call.outputs.emplace_back();
      if (output.empty() || !IsRead(output)) continue;
      const ShapeValue* inferred = Inferred(output);
      if (inferred == nullptr || !inferred->IsTensor() || inferred->Dtype() == TensorType::kUndefined)
        return fmt::format("the type of \"{}\" is not known", output.as_string());
      if (inferred->Dtype() == TensorType::kString) return "it makes strings";
      value.dtype = inferred->Dtype();
      value.shape = context_.Simplify(inferred->Shape());
      const auto form = FormOf(value.shape);
      if (!form) return fmt::format("\"{}\" differs in more than one dim", output.as_string());
      std::tie(value.form, value.axis) = *form;
      value.name = graph_->NewName(output.as_string());
      if (value.IsPacked() && !HasLengths(call, value))
        return fmt::format("the length of \"{}\" is not that of an input", output.as_string());
    }
    if (call.outputs.empty() || call.outputs[0].name.empty()) {
      if (std::ranges::all_of(call.outputs, [](const Batched& output) { return output.name.empty(); })) return {};
      if (!IsRecurrent(node)) return "its first output is unused";
    }
    try {
      if (!rule.apply(call)) return call.why;  // nodes that were made already are dead
    } catch (const Error& e) {
      return e.what();
    }
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      if (call.outputs[i].name.empty()) continue;
      const std::string name(node.output(static_cast<int>(i)));
      values_[name] = call.outputs[i];
      CountBytes(call.outputs[i]);
    }
    return {};
  }

  // Lengths of a packed output are known; those of a reshaped one are made of its input's.
  bool HasLengths(const BatchNode& call, const Batched& output) {
    if (!graph_->Lengths(output.length()).empty()) return true;
    for (const Batched& input : call.inputs) {
      if (!input.IsPacked()) continue;
      const std::optional<OptimDim> factor = onnx_optim::ExactDiv(output.length(), input.length());
      if (!factor || !factor->IsInt() || factor->AsInt() <= 0) continue;
      graph_->SetLengths(output.length(),
                         graph_->Emit("Mul", {graph_->Lengths(input.length()), graph_->Ints({factor->AsInt()})}));
      return true;
    }
    return false;
  }

  // The value in a form that rules take; null when it has none.
  const Batched* Ready(const std::string& name) {
    if (IsPending(name)) Flush();
    const auto it = values_.find(name);
    if (it == values_.end()) throw CannotBatch(fmt::format("\"{}\" is not a tensor outside its own node", name));
    if (it->second.form == BatchForm::kElements) {
      const std::optional<Batched> joined = graph_->Join(it->second);
      if (!joined) return nullptr;
      it->second = *joined;
    }
    return it->second.shape.IsUnknown() ? nullptr : &it->second;
  }

  bool IsPending(const std::string& name) const {
    return std::ranges::any_of(pending_, [&](const NodeProto* node) {
      return std::ranges::any_of(node->output(), [&](const String& output) { return output == name; });
    });
  }

  // A node after this one, or the body itself, reads the value.
  bool IsRead(std::string_view name) const {
    const auto last = last_read_.find(std::string(name));
    return last != last_read_.end() && last->second > position_;
  }

  // What has no rule so far, as one SequenceMap.
  void Flush() {
    // The node at position_ has not been placed.
    const auto is_awaited = [&](std::string_view name) {
      const auto last = last_read_.find(std::string(name));
      return last != last_read_.end() && last->second >= position_;
    };
    std::vector<const NodeProto*> nodes;
    std::set<std::string> made, read, needed;
    for (const NodeProto* node : std::exchange(pending_, {}) | std::views::reverse) {
      // Those whose shapes alone were asked for are done.
      if (std::ranges::none_of(node->output(), [&](const String& name) {
            return is_awaited(name) || needed.contains(std::string(name));
          }))
        continue;
      nodes.push_back(node);
      ForEachRead(*node, [&](const std::string& name) { needed.insert(name); });
    }
    if (nodes.empty()) return;
    std::ranges::reverse(nodes);
    for (const NodeProto* node : nodes)
      for (const String& output : node->output()) made.insert(std::string(output));
    for (const NodeProto* node : nodes)
      ForEachRead(*node, [&](const std::string& name) {
        if (!made.contains(name)) read.insert(name);
      });
    GraphProto inner;
    inner.set_name(String(graph_->NewName("elements")));
    std::vector<std::string> inputs, outputs;
    for (const std::string& name : read) {
      const auto it = values_.find(name);
      if (it == values_.end()) throw CannotBatch(fmt::format("\"{}\" is not a tensor outside its own node", name));
      if (it->second.IsUniform()) continue;
      inputs.push_back(graph_->AsSequence(it->second));
      inner.add_input()->set_name(String(name));
    }
    if (inputs.empty()) {  // nothing of the element is read: once for each of them all the same
      inputs.push_back(graph_->Emit("SplitToSequence", {graph_->Emit("Expand", {graph_->Ints({0}), graph_->count()})}));
      inner.add_input()->set_name(String(graph_->NewName("number")));
    }
    for (const NodeProto* node : nodes) *inner.add_node() = *node;
    for (const std::string& name : made) {
      if (!is_awaited(name)) continue;
      const ShapeValue* inferred = Inferred(name);
      if (inferred == nullptr || !inferred->IsTensor() || inferred->Dtype() == TensorType::kUndefined) {
        throw CannotBatch(fmt::format("the type of \"{}\" is not known", name));
      }
      ValueInfoProto& output = *inner.add_output();
      output.set_name(String(name));
      output.mutable_type()->mutable_tensor_type()->set_elem_type(
          static_cast<int32_t>(onnx_optim::TensorTypeToDataType(inferred->Dtype())));
      outputs.push_back(graph_->NewName(name));
      Known(name, BatchForm::kElements, outputs.back());
    }
    SetGraph(graph_->Node("SequenceMap", inputs, outputs), "body") = std::move(inner);
  }

  void Finish() {
    position_ = order_.size();
    if (!pending_.empty()) Flush();
    if (result_.batched_nodes == 0 || result_.per_element.size() >= static_cast<size_t>(result_.batched_nodes))
      throw CannotBatch(result_.per_element.empty() ? "there is nothing to do" : result_.per_element.front());
    GraphProto& graph = graph_->graph();
    std::map<std::string, int> lengths;
    for (const ValueInfoProto& output : body_.output()) {
      const auto it = values_.find(std::string(output.name()));
      if (it == values_.end()) throw CannotBatch(fmt::format("nothing makes output \"{}\"", output.name().as_string()));
      const Batched& value = it->second;
      if (value.dtype == TensorType::kUndefined) throw CannotBatch("the type of an output is not known");
      BatchOutput& form = result_.outputs.emplace_back();
      form.form = value.form;
      form.axis = value.axis;
      AddOutput(graph, value.name);
      if (value.IsPacked()) {
        const std::string name = graph_->Lengths(value.length());
        form.lengths = lengths.emplace(name, static_cast<int>(lengths.size())).first->second;
      }
    }
    std::vector<std::string> names(lengths.size());
    for (const auto& [name, i] : lengths) names[static_cast<size_t>(i)] = name;
    for (BatchOutput& output : result_.outputs)
      if (output.lengths >= 0) output.lengths += body_.output_size();
    for (const std::string& name : names) AddOutput(graph, name);
  }

  // Outputs have names of their own, so that an input or one value several times may be one.
  void AddOutput(GraphProto& graph, const std::string& value) {
    const std::string name = graph_->NewName(value);
    graph_->Node("Identity", {value}, {name});
    graph.add_output()->set_name(String(name));
  }

  const BatchRequest& request_;
  const GraphProto& body_;
  const ModelProto element_;
  const Captures captures_;
  ShapesContext context_;
  BatchedBody result_;
  std::optional<BatchGraph> graph_;
  std::map<std::string, int64_t, std::less<>> opsets_;
  std::unordered_map<std::string, Batched> values_;
  std::vector<size_t> order_;
  std::unordered_map<std::string, size_t> last_read_;  // where in the order; past its end for outputs
  size_t position_ = 0;
  std::vector<const NodeProto*> pending_;
};

}  // namespace

std::optional<BatchedBody> BatchBody(const BatchRequest& request, std::string& why_not) {
  try {
    return Batcher(request).Run();
  } catch (const std::exception& e) {  // what is wrong with the body is said when it runs element by element
    why_not = e.what();
    return std::nullopt;
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
