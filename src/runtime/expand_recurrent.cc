// SPDX-License-Identifier: Apache-2.0
#include "runtime/expand_recurrent.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "graph/graph_index.h"
#include "model/domain.h"
#include "onnx_io/text_parser.h"
#include "onnxseq/errors.h"
#include "ops/op_def.h"
#include "ops/rnn/is_recurrent.h"
#include "runtime/recurrent_text.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr std::string_view kDomain = "onnxseq.recurrent";

// An operator that the graph uses and that is another one in `opset` than in `before`; empty when there is none.
std::string OpThatDiffers(const GraphProto& graph, int64_t before, int64_t opset) {
  for (const NodeProto& node : graph.node()) {
    if (Domain(node.domain()).empty() && FindOp({}, node.op_type(), before) != FindOp({}, node.op_type(), opset))
      return node.op_type();
    std::string inside;
    ForEachBody(node, [&](const AttributeProto&, const GraphProto& body) {
      if (inside.empty()) inside = OpThatDiffers(body, before, opset);
    });
    if (!inside.empty()) return inside;
  }
  return {};
}

class Expansion {
 public:
  Expansion(ModelProto& model, const InferredTypes& types) : model_(model), types_(types) {
    for (OperatorSetIdProto& import : model.opset_import())
      if (Domain(import.domain()).empty()) import_ = &import;
  }

  int Run() {
    if (import_ == nullptr) return 0;
    InGraph(*model_.mutable_graph());
    if (made_ == 0) return 0;
    import_->set_version(Opset());
    OperatorSetIdProto& import = *model_.add_opset_import();
    import.set_domain(std::string(kDomain));
    import.set_version(1);
    return made_;
  }

 private:
  int64_t Opset() const { return std::max<int64_t>(import_->version(), kLeastRecurrentOpset); }

  void InGraph(GraphProto& graph) {
    for (NodeProto& node : graph.node()) {
      for (AttributeProto& attribute : node.attribute())
        if (attribute.has_g()) InGraph(attribute.ref_g());
      if (IsRecurrent(node) && node.input_size() >= 3 && node.output_size() > 0) InNode(graph, node);
    }
  }

  void InNode(const GraphProto& graph, NodeProto& node) {
    const TensorType type = types_.TypeOf(graph, node.output(node.output(0).empty() ? node.output_size() - 1 : 0));
    if (!onnx_optim::IsFloatTensorType(type)) return;
    const std::string name = fmt::format("{}{}", std::string_view(node.op_type()), made_);
    const std::optional<std::string> text = RecurrentText(node, {.opset = Opset(),
                                                                 .type = type,
                                                                 .hidden_size = HiddenSize(graph, node.input(2)),
                                                                 .domain = kDomain,
                                                                 .name = name});
    if (!text) return;
    CheckOpset(node);
    FunctionProto function = ParseFunctionText(*text);
    NodeProto call;
    call.set_domain(function.domain());
    call.set_op_type(function.name());
    call.set_name(node.name());
    for (const String& input : node.input())
      if (!input.empty()) call.add_input(input);
    for (const String& output : node.output())
      if (!output.empty()) call.add_output(output);
    *model_.add_functions() = std::move(function);
    node = std::move(call);
    ++made_;
  }

  // The last axis of R.
  int64_t HiddenSize(const GraphProto& graph, std::string_view r) const {
    const ShapeValue* known = types_.Find(graph, r);
    if (known == nullptr || !known->IsTensor() || !known->HasRank() || known->Shape().Rank() != 3) return -1;
    return known->Shape()[2].IsInt() ? known->Shape()[2].AsInt() : -1;
  }

  // Operators of an older set must be the same in the one that the loop needs.
  void CheckOpset(const NodeProto& node) const {
    constexpr int64_t kOldest = 7;  // broadcasting and recurrent operators as they are today
    const int64_t before = import_->version();
    if (before >= kLeastRecurrentOpset) return;
    const std::string other =
        before < kOldest ? node.op_type().as_string() : OpThatDiffers(model_.graph(), before, kLeastRecurrentOpset);
    if (!other.empty())
      throw Unsupported(fmt::format("lowering writes a loop of operator set {}, in which {} is another than in the {} "
                                    "of the model",
                                    kLeastRecurrentOpset, other, before),
                        {.op_type = node.op_type(), .node_name = node.name(), .subject = {}, .path = {}});
  }

  ModelProto& model_;
  const InferredTypes& types_;
  OperatorSetIdProto* import_ = nullptr;
  int made_ = 0;
};

}  // namespace

int ExpandRecurrent(ModelProto& model, const InferredTypes& types) { return Expansion(model, types).Run(); }

}  // namespace ONNX_LIGHT_NAMESPACE
