// SPDX-License-Identifier: Apache-2.0
#include "runtime/save_ir.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "graph/captures.h"
#include "graph/graph_index.h"
#include "model/domain.h"
#include "openvino_io/ir_node_writer.h"
#include "openvino_io/ir_standard.h"
#include "ops/infer_node.h"
#include "ops/op_def.h"
#include "runtime/custom_ops.h"
#include "runtime/expand_recurrent.h"
#include "runtime/inferred_types.h"
#include "runtime/inline_functions.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

class InferredIrTypes : public IrTypeSource {
 public:
  explicit InferredIrTypes(const InferredTypes& types) : types_(types) {}

  IrType TypeOf(const GraphProto& graph, std::string_view value) const override {
    const ShapeValue* known = types_.Find(graph, value);
    if (known == nullptr || !known->IsTensor()) return {};
    IrType type{.element = known->Dtype(), .ranked = known->HasRank(), .dims = {}};
    for (size_t i = 0; i < known->Shape().Rank(); ++i)
      type.dims.push_back(known->Shape()[i].IsInt() ? known->Shape()[i].AsInt() : -1);
    return type;
  }

  std::string_view KindOf(const GraphProto& graph, std::string_view value) const override {
    const ShapeValue* known = types_.Find(graph, value);
    if (known == nullptr || known->IsUnknown() || known->IsTensor()) return {};
    return known->IsSequence()   ? "a sequence"
           : known->IsOptional() ? "an optional"
           : known->IsMap()      ? "a map"
                                 : "sparse";
  }

 private:
  const InferredTypes& types_;
};

// Producers before users, here and in bodies.
void SortNodes(GraphProto& graph, const Captures& captures, bool is_body) {
  const GraphIndex index(graph, captures, is_body);
  std::vector<NodeProto> sorted;
  for (const int n : index.order()) sorted.push_back(std::move(*graph.mutable_node(n)));
  for (size_t i = 0; i < sorted.size(); ++i) {
    NodeProto& node = *graph.mutable_node(static_cast<int>(i));
    node = std::move(sorted[i]);
    for (AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) SortNodes(attribute.ref_g(), captures, true);
    }
  }
}

// If nodes of which inference knows the branch that runs: nothing is known of the values in the other. Each becomes a
// call of a function that the branch is, to be written out.
class DecidedBranches {
 public:
  DecidedBranches(ModelProto& model, const InferredTypes& types, const Captures& captures)
      : model_(model), types_(types), captures_(captures) {}

  // False when there are none.
  bool MakeCalls() {
    InGraph(*model_.mutable_graph());
    if (made_ == 0) return false;
    OperatorSetIdProto& import = *model_.add_opset_import();
    import.set_domain(std::string(kDomain));
    import.set_version(1);
    return true;
  }

 private:
  static constexpr std::string_view kDomain = "onnxseq.branch";

  void InGraph(GraphProto& graph) {
    for (NodeProto& node : graph.node()) {
      std::vector<GraphProto*> bodies;
      for (AttributeProto& attribute : node.attribute())
        if (attribute.has_g()) bodies.push_back(&attribute.ref_g());
      GraphProto* runs = nullptr;
      if (node.op_type() == "If" && node.domain().empty() && bodies.size() == 2 &&
          types_.MayRun(*bodies[0]) != types_.MayRun(*bodies[1]))
        runs = bodies[types_.MayRun(*bodies[0]) ? 0 : 1];
      if (runs != nullptr) {
        MakeCall(node, *runs);
      } else {
        for (GraphProto* body : bodies) InGraph(*body);
      }
    }
  }

  void MakeCall(NodeProto& node, GraphProto& branch) {
    FunctionProto& function = *model_.add_functions();
    function.set_domain(std::string(kDomain));
    function.set_name("branch" + std::to_string(made_++));
    for (const OperatorSetIdProto& import : model_.opset_import()) *function.add_opset_import() = import;
    NodeProto call;
    call.set_domain(function.domain());
    call.set_op_type(function.name());
    call.set_name(node.name());
    *call.mutable_output() = node.output();
    for (const std::string_view outer : captures_.Of(branch)) {
      function.add_input(std::string(outer));
      call.add_input(std::string(outer));
    }
    for (TensorProto& tensor : branch.initializer()) {
      NodeProto& constant = *function.add_node();
      constant.set_op_type("Constant");
      constant.add_output(tensor.name());
      AttributeProto& value = *constant.add_attribute();
      value.set_name("value");
      value.set_type(AttributeProto::TENSOR);
      *value.mutable_t() = std::move(tensor);
    }
    for (NodeProto& inner : branch.node()) *function.add_node() = std::move(inner);
    for (const ValueInfoProto& output : branch.output()) function.add_output(output.name());
    node = std::move(call);
  }

  ModelProto& model_;
  const InferredTypes& types_;
  const Captures& captures_;
  int made_ = 0;
};

// Sparse initializers as the dense ones they stand for, here and in bodies.
void MakeDense(GraphProto& graph) {
  for (const SparseTensorProto& tensor : graph.sparse_initializer())
    *graph.add_initializer() = TensorToProto(TensorFromSparse(tensor), tensor.values().name());
  graph.clear_sparse_initializer();
  for (NodeProto& node : graph.node())
    for (AttributeProto& attribute : node.attribute())
      if (attribute.has_g()) MakeDense(attribute.ref_g());
}

// Throws what is wrong with the form of a node, so that writers need not ask how many inputs it has.
void CheckNodes(const ModelProto& model, const GraphProto& graph) {
  for (const NodeProto& node : graph.node()) {
    const std::string_view domain = Domain(node.domain());
    for (const OperatorSetIdProto& import : model.opset_import()) {
      if (Domain(import.domain()) != domain) continue;
      if (const OpDef* op = FindOp(domain, node.op_type(), import.version())) CheckNode(*op, node);
      break;
    }
    ForEachBody(node, [&](const AttributeProto&, const GraphProto& body) { CheckNodes(model, body); });
  }
}

// All but the operators that IR has a layer for, though here they are written as nodes of others.
void WriteOut(ModelProto& model) {
  static_cast<void>(InlineFunctions(model, [](std::string_view domain, std::string_view op_type, int64_t opset) {
    return FindIrWriter(domain, op_type, opset) != nullptr;
  }));
}

// Calls write(model, types) for the model made ready.
template <class Fn>
auto Prepared(const ModelProto& model, bool lower, Fn write) {
  ModelProto copy = model;
  if (NeedsInlining(copy)) WriteOut(copy);
  CheckNodes(copy, copy.graph());
  MakeDense(*copy.mutable_graph());
  if (lower) LegacyLayersToOnnx(copy);
  for (;;) {
    const Captures captures(copy.graph());
    SortNodes(*copy.mutable_graph(), captures, false);
    const InferredTypes types(copy, CustomOps({}));
    DecidedBranches decided(copy, types, captures);
    if (!decided.MakeCalls() && (!lower || ExpandRecurrent(copy, types) == 0))
      return write(copy, InferredIrTypes(types));
    WriteOut(copy);
  }
}

}  // namespace

IrFiles ToIr(const ModelProto& model, const IrWriteOptions& options) {
  return Prepared(model, options.lower, [&](const ModelProto& ready, const IrTypeSource& types) {
    return SerializeIr(ready, types, options);
  });
}

void SaveIr(const ModelProto& model, const std::string& xml_path, const IrWriteOptions& options) {
  Prepared(model, options.lower,
           [&](const ModelProto& ready, const IrTypeSource& types) { WriteIr(ready, types, xml_path, options); });
}

}  // namespace ONNX_LIGHT_NAMESPACE
