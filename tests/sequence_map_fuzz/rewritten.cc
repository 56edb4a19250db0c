// SPDX-License-Identifier: Apache-2.0
#include "rewritten.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "compare.h"
#include "elements.h"
#include "graph/captures.h"
#include "onnx_io/text_printer.h"
#include "onnxseq/errors.h"
#include "passes/batch/batch_body.h"
#include "runtime/shape_check.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

BatchInput Described(const Tensor& tensor) {
  BatchInput input;
  input.dtype = tensor.dtype();
  input.dims.assign(tensor.shape().begin(), tensor.shape().end());
  return input;
}

bool HasBodies(const NodeProto& node) {
  bool has = false;
  ForEachBody(node, [&](const AttributeProto&, const GraphProto&) { has = true; });
  return has;
}

class Rewriting {
 public:
  Rewriting(const ModelProto& model, const ValueMap& feeds)
      : model_(model), feeds_(feeds), map_(model.graph().node(0)) {
    for (const AttributeProto& attribute : map_.attribute())
      if (attribute.has_g()) body_ = &attribute.g();
  }

  // False when elements have no form.
  bool Request(int pack) {
    request_.body = body_;
    request_.model = &model_;
    std::vector<std::vector<int64_t>> lengths;
    for (const String& name : map_.input()) {
      const Value& value = feeds_.at(std::string(name));
      if (value.IsTensor()) {
        request_.inputs.push_back(Described(value.tensor()));
        values_.push_back(value);
        continue;
      }
      const Sequence& sequence = value.sequence();
      std::optional<int> axis = sequence.empty() ? std::nullopt : DifferingAxis(sequence);
      if (!axis) return false;
      if (*axis < 0 && pack < sequence[0].rank()) axis = pack;
      BatchInput& input = request_.inputs.emplace_back(Described(sequence[0]));
      input.form = *axis < 0 ? BatchForm::kStacked : BatchForm::kPacked;
      values_.emplace_back(Joined(sequence.elements(), *axis));
      count_ = sequence.size();
      if (*axis < 0) continue;
      input.axis = *axis;
      std::vector<int64_t> sizes;
      for (const Tensor& element : sequence.elements()) sizes.push_back(element.dim(*axis));
      const auto same = std::ranges::find(lengths, sizes);
      input.lengths = static_cast<int>(same - lengths.begin());
      if (same == lengths.end()) lengths.push_back(sizes);
      has_empty_ = has_empty_ || std::ranges::find(sizes, 0) != sizes.end();
    }
    for (const std::vector<int64_t>& sizes : lengths)
      values_.emplace_back(Tensor::Of<int64_t>(Shape{count_}, std::span<const int64_t>(sizes)));
    values_.emplace_back(Tensor::Of<int64_t>(Shape{1}, {count_}));
    const Captures captures(model_.graph());
    for (const std::string_view name : captures.Of(*body_)) {
      const auto constant = std::ranges::find_if(model_.graph().initializer(), [&](const TensorProto& tensor) {
        return std::string_view(tensor.name()) == name;
      });
      if (constant != model_.graph().initializer().end()) {
        request_.constants.emplace_back(name, &*constant);
        continue;
      }
      values_.push_back(feeds_.find(name)->second);
      request_.captures.emplace_back(name, Described(values_.back().tensor()));
    }
    return true;
  }

  std::vector<std::string> Check(const BatchedBody& batched, const ValueMap& plain, RewriteCounts& counts) {
    ValueMap feeds;
    for (int i = 0; i < batched.model.graph().input_size(); ++i)
      feeds.emplace(batched.model.graph().input(i).name(), values_[static_cast<size_t>(i)]);
    SessionOptions options;
    options.threads = 1;
    options.sequence_map = SequenceMapStrategy::kElements;
    options.optimize = false;
    const Session session = Session::FromModel(batched.model, options);
    ShapeCheck check(session.model());
    RunOptions run;
    run.observer = &check;
    ValueMap outputs;
    try {
      outputs = session.Run(feeds, {}, run);
    } catch (const Error&) {
      // Whoever asks for all values has nodes run that nobody needs; those in nested bodies are still there.
      if (std::ranges::none_of(body_->node(), [](const NodeProto& node) { return HasBodies(node); })) throw;
      return {};
    }
    counts.checked_values += check.checked();
    std::vector<std::string> wrong = check.contradictions();
    for (size_t o = 0; o < batched.outputs.size(); ++o) {
      const Value& got = outputs.at(std::string(batched.model.graph().output(static_cast<int>(o)).name()));
      const Sequence& wanted = plain.at(std::string(map_.output(static_cast<int>(o)))).sequence();
      const std::string difference = Compare(batched.outputs[o], got, wanted);
      if (!difference.empty()) wrong.push_back(fmt::format("output {} of all elements: {}", o, difference));
    }
    return wrong;
  }

  void Count(const BatchedBody& batched, RewriteCounts& counts) const {
    std::set<std::string> alone;
    for (const std::string& text : batched.per_element) {
      const size_t name = text.find(" node \"");
      const size_t end = text.find("\": ", name);
      if (name == std::string::npos) continue;
      alone.insert(text.substr(name + 7, end - name - 7));
      ++counts.reasons[text.substr(0, name) + text.substr(end + 1)];
    }
    for (const NodeProto* node : NodesOfTheElement()) {
      auto& nodes = alone.contains(std::string(node->name())) ? counts.per_element : counts.batched;
      ++nodes[std::string(node->op_type())];
    }
  }

  const BatchRequest& request() const { return request_; }
  // A packed element has length 0.
  bool has_empty() const { return has_empty_; }

 private:
  static std::string Compare(const BatchOutput& form, const Value& got, const Sequence& wanted) {
    switch (form.form) {
      case BatchForm::kElements:
        return Difference(got, wanted);
      case BatchForm::kUniform:
        for (const Tensor& element : wanted.elements())
          if (std::string text = Difference(got, element); !text.empty()) return text;
        return {};
      default:
        if (form.form == BatchForm::kPacked || DifferingAxis(wanted) == -1)
          return Difference(got, Joined(wanted.elements(), form.form == BatchForm::kPacked ? form.axis : -1));
        return "stacked, though elements differ";
    }
  }

  // Those that compute outputs, and of what differs between elements.
  std::vector<const NodeProto*> NodesOfTheElement() const {
    const Captures captures(model_.graph());
    std::set<std::string> varying, used;
    for (const ValueInfoProto& input : body_->input()) varying.emplace(input.name());
    for (const ValueInfoProto& output : body_->output()) used.emplace(output.name());
    const auto reads = [&](const NodeProto& node) {
      std::vector<std::string> names(node.input().begin(), node.input().end());
      ForEachBody(node, [&](const AttributeProto&, const GraphProto& body) {
        for (const std::string_view name : captures.Of(body)) names.emplace_back(name);
      });
      return names;
    };
    for (const NodeProto& node : body_->node()) {
      if (std::ranges::any_of(reads(node), [&](const std::string& name) { return varying.contains(name); }))
        varying.insert(node.output().begin(), node.output().end());
    }
    std::vector<const NodeProto*> nodes;
    for (int i = body_->node_size(); i-- > 0;) {
      const NodeProto& node = body_->node(i);
      const auto wanted = [&](const String& name) { return !name.empty() && used.contains(std::string(name)); };
      if (std::ranges::none_of(node.output(), wanted)) continue;
      for (const std::string& name : reads(node)) used.insert(name);
      if (varying.contains(std::string(node.output(0)))) nodes.push_back(&node);
    }
    return nodes;
  }

  const ModelProto& model_;
  const ValueMap& feeds_;
  const NodeProto& map_;
  const GraphProto* body_ = nullptr;
  BatchRequest request_;
  std::vector<Value> values_;  // of the batched graph's inputs
  int64_t count_ = 0;
  bool has_empty_ = false;
};

}  // namespace

std::vector<std::string> CheckRewritten(const ModelProto& model, const ValueMap& feeds, const ValueMap& plain, int pack,
                                        RewriteCounts& counts) {
  Rewriting rewriting(model, feeds);
  if (!rewriting.Request(pack)) return {};
  std::string why_not;
  const std::optional<BatchedBody> batched = BatchBody(rewriting.request(), why_not);
  if (!batched) {
    ++counts.refused;
    ++counts.reasons["(all) " + why_not.substr(0, why_not.find(" \""))];
    return {};
  }
  if (rewriting.has_empty() && !batched->takes_empty) return {};
  ++counts.made;
  rewriting.Count(*batched, counts);
  std::vector<std::string> wrong;
  try {
    wrong = rewriting.Check(*batched, plain, counts);
  } catch (const std::exception& e) {
    wrong.push_back(fmt::format("the batched graph ends with {}", e.what()));
  }
  if (!wrong.empty()) wrong.push_back("of this graph:\n" + PrintGraphText(batched->model.graph()));
  return wrong;
}

}  // namespace ONNX_LIGHT_NAMESPACE
