// SPDX-License-Identifier: Apache-2.0
#include "runtime/save_ir.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "graph/graph_index.h"
#include "runtime/custom_ops.h"
#include "runtime/inferred_types.h"
#include "runtime/inline_functions.h"

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

}  // namespace

void SaveIr(const ModelProto& model, const std::string& xml_path, const IrWriteOptions& options) {
  ModelProto copy = model;
  if (NeedsInlining(copy)) static_cast<void>(InlineFunctions(copy));
  const Captures captures(copy.graph());
  SortNodes(*copy.mutable_graph(), captures, false);
  const InferredTypes types(copy, CustomOps({}));
  WriteIr(copy, InferredIrTypes(types), xml_path, options);
}

}  // namespace ONNX_LIGHT_NAMESPACE
