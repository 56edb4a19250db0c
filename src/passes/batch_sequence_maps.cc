// SPDX-License-Identifier: Apache-2.0
// SequenceMap as the nodes of its body over all elements, in standard operators.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "graph/node_attributes.h"
#include "model/set_attribute.h"
#include "passes/batch/batch_body.h"
#include "passes/batch/fragment.h"
#include "passes/batch/map_input.h"
#include "passes/batch/map_output.h"
#include "passes/passes.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using onnx_optim::shapes::ShapeValue;

constexpr int kAbsent = GraphEdit::kAbsent;

// Why a SequenceMap stays.
struct Stays {
  std::string why;
};

// Operators that give what is empty for what is empty, in every engine.
bool GivesNothingForNothing(const GraphEdit& edit, const NodeProto& node) {
  static constexpr std::string_view kTypes[] = {
      "Cast",  "Concat", "Constant", "Gemm",    "Identity",  "MatMul",          "Min",      "Range",
      "Shape", "Slice",  "Squeeze",  "Reshape", "Transpose", "SplitToSequence", "Unsqueeze"};
  const OpDef* op = edit.FindTableOp(node);
  return op != nullptr && (op->elementwise != 0 || std::ranges::find(kTypes, op->type) != std::end(kTypes));
}

class MapBatching {
 public:
  MapBatching(GraphEdit& edit, int n)
      : edit_(edit), n_(n), node_(edit.node(n)), body_(NodeAttributes(node_).Graph("body")) {}

  // The note that says what became of it. Throws Stays.
  std::string Run() {
    ReadNode();
    std::string why;
    for (const bool prefer_packed : {false, true}) {
      if (prefer_packed &&
          std::ranges::none_of(walked_, [](const auto& input) { return input && input->stacked() && input->packed(); }))
        break;
      if (!Batch(prefer_packed, why)) continue;
      try {
        return Rewrite();
      } catch (const Stays& stays) {
        why = stays.why;
      }
    }
    throw Stays{why};
  }

 private:
  void ReadNode() {
    if (body_.input_size() != node_.input_size() || body_.output_size() != node_.output_size())
      throw Stays{"its body does not fit it"};
    CheckNodes(body_);
    for (size_t i = 0; i < edit_.inputs(n_).size(); ++i) {
      const int v = edit_.inputs(n_)[i];
      const ShapeValue* known = edit_.Inferred(v);
      if (v == kAbsent || known == nullptr || !(known->IsSequence() || known->IsTensor()))
        throw Stays{fmt::format("the type of input {} is not known", i)};
      walked_.emplace_back();
      uniform_.emplace_back();
      if (known->IsSequence()) {
        if (!walked_.back().emplace(edit_, v).why_not().empty()) throw Stays{walked_.back()->why_not()};
      } else {
        uniform_.back() = Uniform(v);
      }
    }
    if (!walked_[0]) throw Stays{"input 0 is no sequence"};
    for (const std::string_view name : edit_.captures().Of(body_)) {
      const int v = edit_.Find(name);
      if (const TensorProto* constant = edit_.Constant(v)) {
        constants_.emplace_back(name, constant);
      } else {
        captured_.emplace_back(name, Uniform(v));
      }
    }
  }

  void CheckNodes(const GraphProto& graph) const {
    for (const NodeProto& node : graph.node()) {
      if (edit_.FindTableOp(node) == nullptr)
        throw Stays{fmt::format("its body has nodes of type {}", std::string_view(node.op_type()))};
      ForEachBody(node, [&](const AttributeProto&, const GraphProto&) {
        throw Stays{fmt::format("{} has a body of its own", std::string_view(node.op_type()))};
      });
    }
  }

  BatchInput Uniform(int v) const {
    const ShapeValue* known = edit_.Inferred(v);
    BatchInput input;
    if (known != nullptr && known->IsTensor() && known->HasRank()) {
      input.dtype = known->Dtype();
      for (const OptimDim& dim : known->Shape()) input.dims.push_back(dim.IsInt() ? dim.AsInt() : -1);
    } else if (const TensorProto* constant = edit_.Constant(v)) {
      input.dtype = edit_.TypeOf(v);
      input.dims.assign(constant->dims().begin(), constant->dims().end());
    }
    if (input.dtype == TensorType::kUndefined)
      throw Stays{fmt::format("the rank of \"{}\", which its body uses, is not known", edit_.name(v))};
    return input;
  }

  bool IsStacked(size_t i) const { return request_.inputs[i].form == BatchForm::kStacked; }

  bool Batch(bool prefer_packed, std::string& why) {
    request_ = {};
    keys_.clear();
    ModelProto opsets;
    opsets.set_ir_version(8);
    for (const auto& [domain, version] : edit_.context().opsets) {
      if (domain == kInternalDomain) continue;
      OperatorSetIdProto& import = *opsets.add_opset_import();
      import.set_domain(String(domain));
      import.set_version(version);
    }
    request_.body = &body_;
    request_.model = &opsets;
    request_.constants = constants_;
    request_.captures = captured_;
    for (size_t i = 0; i < walked_.size(); ++i) {
      if (!walked_[i]) {
        request_.inputs.push_back(uniform_[i]);
        continue;
      }
      const MapInput& input = *walked_[i];
      const bool pack = !input.stacked() || (prefer_packed && input.packed());
      request_.inputs.push_back(pack ? *input.packed() : *input.stacked());
      if (!pack) continue;
      const auto same =
          std::ranges::find_if(keys_, [&](size_t k) { return walked_[k]->lengths_key() == input.lengths_key(); });
      request_.inputs.back().lengths = static_cast<int>(same - keys_.begin());
      if (same == keys_.end()) keys_.push_back(i);
    }
    batched_ = BatchBody(request_, why);
    if (batched_ && !batched_->per_element.empty()) {
      why = batched_->per_element.front();
      batched_.reset();
    }
    if (batched_ && !batched_->takes_empty &&
        std::ranges::any_of(keys_, [&](size_t k) { return walked_[k]->MayHaveEmptyOnes(); })) {
      why = "an element may be empty";
      batched_.reset();
    }
    return batched_.has_value();
  }

  std::string Rewrite() {
    const size_t lengths = walked_.size(), count = lengths + keys_.size();
    std::vector<std::string> inputs, outputs;
    for (const ValueInfoProto& input : batched_->model.graph().input()) inputs.push_back(input.name());
    for (const ValueInfoProto& output : batched_->model.graph().output()) outputs.push_back(output.name());
    Fragment fragment(edit_, std::move(*batched_->model.mutable_graph()));
    fragment.made().SetCount(inputs[count]);
    for (const auto& [name, constant] : constants_) fragment.Bind(name, edit_.Find(name));
    for (const auto& [name, input] : captured_) fragment.Bind(name, edit_.Find(name));
    for (size_t i = 0; i < walked_.size(); ++i) Take(fragment, i, inputs[i], inputs[count]);
    std::vector<std::string> missing;
    for (size_t k = 0; k < keys_.size(); ++k) {
      const MapInput& input = *walked_[keys_[k]];
      if (input.HasLengths()) {
        input.Lengths(fragment, inputs[lengths + k]);
      } else {
        missing.push_back(inputs[lengths + k]);
      }
    }
    walked_[0]->Count(fragment, inputs[count], IsStacked(0), inputs[0]);

    // Results that are joined again need no elements to be right: ConcatFromSequence takes none.
    std::vector<MapOutput> results = Results();
    std::vector<std::string> wanted = {inputs[count]};
    for (const MapOutput& result : results) {
      wanted.push_back(outputs[result.i()]);
      if (const int k = batched_->outputs[result.i()].lengths; k >= 0)
        wanted.push_back(outputs[static_cast<size_t>(k)]);
    }
    fragment.Prune(wanted);
    const bool in_if = CanBeEmpty() && !IsFineWithNothing(fragment) &&
                       !std::ranges::all_of(results, [](const MapOutput& result) { return !result.joins().empty(); });
    wanted.clear();
    for (MapOutput& result : results) {
      if (in_if) result.NeedSequence();
      if (!result.Give(fragment, outputs, wanted))
        throw Stays{fmt::format("output {} is the same for all elements, of dims that are not known", result.i())};
    }
    fragment.Prune(wanted);
    for (const NodeProto& node : fragment.graph().node())
      if (node.domain() == kInternalDomain)
        throw Stays{fmt::format("that takes {}, which is no standard operator", std::string_view(node.op_type()))};
    for (const std::string& name : missing)
      if (fragment.Reads(name)) throw Stays{"the lengths of its elements are not at hand"};
    std::string form = "stacked";
    if (!keys_.empty()) form = fmt::format("packed along axis {}", request_.inputs[keys_[0]].axis);
    std::string note =
        fmt::format("{}, {} node{} for all elements{}", form, batched_->batched_nodes,
                    batched_->batched_nodes == 1 ? "" : "s", in_if ? ", in an If for when there are none" : "");
    in_if ? PutInIf(fragment, results, wanted) : Put(fragment, results);
    return note;
  }

  bool CanBeEmpty() const {
    const OptimDim& elements = walked_[0]->count();
    return !elements.IsInt() || elements.AsInt() < 1;
  }

  // ConcatFromSequence is not.
  bool IsFineWithNothing(const Fragment& fragment) const {
    return std::ranges::all_of(walked_, [](const auto& input) { return !input || input->IsCut(); }) &&
           std::ranges::all_of(fragment.graph().node(), [&](const NodeProto& node) {
             return node.domain() == kInternalDomain || GivesNothingForNothing(edit_, node);
           });
  }

  // Input i of the body, as the batched graph wants it.
  void Take(Fragment& fragment, size_t i, const std::string& name, const std::string& count) {
    if (!walked_[i]) return fragment.Bind(name, edit_.inputs(n_)[i]);
    // That they are as many is all the node itself says of two sequences, so that what inference knows is no proof.
    const MapInput &input = *walked_[i], &first = *walked_[0];
    const bool is_same = input.sequence() == first.sequence();
    if (!IsStacked(i)) {
      if (!is_same && (IsStacked(0) || input.lengths_key() != first.lengths_key()))
        throw Stays{"its sequences are not known to be equally long"};
      return input.Pack(fragment, name);
    }
    if (is_same) return input.Stack(fragment, name);
    if (std::ranges::count(request_.inputs[i].dims, 0) > 0)
      throw Stays{"its sequences are not known to be equally long"};
    // Another number of elements is to be an error, not to be broadcast.
    BatchGraph& made = fragment.made();
    const std::string any = made.NewName(name);
    input.Stack(fragment, any);
    made.Node("Reshape",
              {any, made.Emit("Concat", {count, made.Ints(request_.inputs[i].dims)},
                              [](NodeProto& node) { SetInt(node, "axis", 0); })},
              {name});
  }

  // What of the node is used.
  std::vector<MapOutput> Results() const {
    std::vector<MapOutput> results;
    for (size_t i = 0; i < edit_.outputs(n_).size(); ++i) {
      const int v = edit_.outputs(n_)[i];
      if (v == kAbsent || (edit_.users(v).empty() && !edit_.IsPinned(v))) continue;
      if (edit_.TypeOf(v) == TensorType::kUndefined) throw Stays{fmt::format("the type of output {} is not known", i)};
      results.emplace_back(edit_, i, v, batched_->outputs[i]);
    }
    return results;
  }

  void Put(Fragment& fragment, const std::vector<MapOutput>& results) {
    fragment.Put();
    for (const MapOutput& result : results)
      for (const int user : result.joins()) edit_.Remove(user);
    edit_.Remove(n_);
  }

  void PutInIf(Fragment& fragment, const std::vector<MapOutput>& results, const std::vector<std::string>& wanted) {
    Fragment test(edit_), none(edit_);
    std::string any;
    for (const auto& input : walked_) {
      if (!input || (!any.empty() && input->sequence() == walked_[0]->sequence())) continue;
      const std::string more = input->Any(test);
      any = any.empty() ? more : test.made().Emit("Add", {any, more});
    }
    const int condition = edit_.NewValue("is_empty");
    const std::string name = test.Of(condition);
    test.made().Node("Equal", {any, test.made().Ints({0})}, {name});
    test.Put();

    std::vector<std::string> empties;
    for (const MapOutput& result : results) {
      const auto type = static_cast<int64_t>(onnx_optim::TensorTypeToDataType(edit_.TypeOf(result.v())));
      empties.push_back(none.made().Emit("SequenceEmpty", {}, [&](NodeProto& node) { SetInt(node, "dtype", type); }));
    }
    NodeProto choice;
    choice.set_op_type("If");
    if (!node_.name().empty()) choice.set_name(node_.name());
    SetGraph(choice, "then_branch") = none.AsBody("no_elements", empties);
    SetGraph(choice, "else_branch") = fragment.AsBody("all_elements", wanted);
    std::vector<int> outputs;
    for (const MapOutput& result : results) outputs.push_back(result.v());
    edit_.AddNode(std::move(choice), {condition}, outputs);
    edit_.Remove(n_);
  }

  GraphEdit& edit_;
  const int n_;
  const NodeProto& node_;
  const GraphProto& body_;
  std::vector<std::optional<MapInput>> walked_;  // by input
  std::vector<BatchInput> uniform_;              // of those that are no sequences
  std::vector<std::pair<std::string, const TensorProto*>> constants_;
  std::vector<std::pair<std::string, BatchInput>> captured_;
  BatchRequest request_;
  std::vector<size_t> keys_;  // by number of a vector of lengths: an input that has it
  std::optional<BatchedBody> batched_;
};

std::string Called(const NodeProto& node) {
  if (!node.name().empty()) return fmt::format("SequenceMap node \"{}\"", std::string_view(node.name()));
  return fmt::format("SequenceMap node of \"{}\"", node.output_size() == 0 ? "" : std::string_view(node.output(0)));
}

}  // namespace

int64_t BatchSequenceMaps(GraphEdit& edit) {
  int64_t batched = 0;
  const int nodes = edit.node_size();
  for (int n = 0; n < nodes; ++n) {
    if (!edit.Is(n, "SequenceMap")) continue;
    std::string note = Called(edit.node(n)) + ": ";
    try {
      note += MapBatching(edit, n).Run();
      ++batched;
    } catch (const Stays& stays) {
      note += "left as it is: " + stays.why;
    }
    if (edit.context().note) edit.context().note(std::move(note));
  }
  return batched;
}

}  // namespace ONNX_LIGHT_NAMESPACE
