// SPDX-License-Identifier: Apache-2.0
#include "passes/optimize.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>
#include <unordered_set>

#include "graph/value_names.h"
#include "kernels/recurrent/recurrent.h"
#include "model/domain.h"
#include "ops/internal/internal_domain.h"
#include "ops/microsoft/microsoft_op.h"
#include "passes/passes.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct Pass {
  std::string_view name;
  int64_t (*run)(GraphEdit&);
  bool standard;  // what it makes may be saved
  bool adds_nodes = false;
};
// What one pass makes, the next ones find.
constexpr Pass kPasses[] = {
    {"recognise cells", RecogniseCells, true, true},
    {"recognise unrolled cells", RecogniseUnrolledCells, true, true},
    {"fuse quantized", FuseQuantized, true},
    {"fold constants", FoldConstants, true},
    {"remove no-ops", RemoveNoOps, true},
    {"merge equal nodes", MergeEqual, true},
    {"fold BatchNormalization", FoldBatchNormalization, true},
    {"fuse Conv bias", FuseConvBias, true},
    {"remove dead nodes", RemoveDead, true},
    {"fuse after Conv", FuseAfterConv, false},
    {"fuse products", FuseProduct, false},
    {"fuse elementwise", FuseElementwise, false},
    {"group recurrent nodes", GroupRecurrent, false, true},
};
constexpr Pass kMapPasses[] = {{"batch SequenceMaps", BatchSequenceMaps, true, true}};
// Initializers need not be graph inputs from here on.
constexpr int64_t kFreeInitializers = 4;

class Optimizer {
 public:
  Optimizer(ModelProto& model, const TypeKnowledge& types, const OptimizeOptions& options, std::span<const Pass> passes)
      : model_(model), standard_only_(options.standard_only), passes_(passes), captures_(model.graph()) {
    context_.types = &types;
    context_.defaults_are_constant = options.defaults_are_constant;
    context_.flush_denormals = options.flush_denormals;
    context_.least_fused = options.least_fused;
    context_.least_grouped = options.least_grouped;
    context_.threads = options.threads;
    for (const FunctionProto& function : model.functions())
      context_.functions.emplace(Domain(function.domain()), function.name());
    for (const OperatorSetIdProto& import : model.opset_import())
      context_.opsets.insert_or_assign(std::string(Domain(import.domain())), import.version());
    if (!standard_only_) {
      AddImport(kInternalDomain);
      if (!context_.opsets.contains(kMicrosoft)) AddImport(kMicrosoft);
    }
    context_.new_name = [this](std::string_view name) { return NewName(name); };
    context_.note = [this](std::string note) { report_.notes.push_back(std::move(note)); };
    for (const Pass& pass : passes_) report_.passes.push_back({pass.name, 0});
  }

  OptimizeReport Run() {
    report_.nodes_before = CountNodes(model_.graph());
    Graph(*model_.mutable_graph(), nullptr, standard_only_);
    if (made_initializers_ && model_.ir_version() < kFreeInitializers) model_.set_ir_version(kFreeInitializers);
    return std::move(report_);
  }

 private:
  static int64_t CountNodes(const GraphProto& graph) {
    int64_t count = graph.node_size();
    for (const NodeProto& node : graph.node())
      ForEachBody(node, [&](const AttributeProto&, const GraphProto& body) { count += CountNodes(body); });
    return count;
  }
  void AddImport(std::string_view domain) {
    context_.opsets.insert_or_assign(std::string(domain), 1);
    OperatorSetIdProto& import = *model_.add_opset_import();
    import.set_domain(String(domain));
    import.set_version(1);
  }
  // What a SequenceMap maps is said over all elements when it runs, by rules for standard operators, and optimized
  // then.
  void Graph(GraphProto& graph, const GraphEdit* outer, bool standard_only) {
    std::optional<GraphEdit> edit(std::in_place, graph, captures_, outer, context_);
    for (size_t i = 0; i < passes_.size(); ++i) {
      if (!passes_[i].standard && standard_only) continue;
      const int64_t count = passes_[i].run(*edit);
      report_.passes[i].count += count;
      if (!passes_[i].adds_nodes || count == 0) continue;
      made_initializers_ = edit->Commit() || made_initializers_;
      captures_ = Captures(model_.graph());  // of bodies that are new, and none by names of nodes that left
      edit.emplace(graph, captures_, outer, context_);
    }
    made_initializers_ = edit->Commit() || made_initializers_;
    report_.nodes_after += graph.node_size();
    for (NodeProto& node : graph.node()) {
      if (node.domain() == kInternalDomain) continue;
      const bool standard = standard_only || node.op_type() == "SequenceMap";
      for (AttributeProto& attribute : node.attribute()) {
        if (attribute.has_g()) Graph(attribute.ref_g(), &*edit, standard);
        for (GraphProto& body : attribute.graphs()) Graph(body, &*edit, standard);
      }
    }
  }

  std::string NewName(std::string_view like) {
    if (names_.empty()) AddValueNames(model_.graph(), names_);
    for (;;) {
      std::string name = fmt::format("{}__{}", like, ++names_made_);
      if (names_.insert(name).second) return name;
    }
  }

  ModelProto& model_;
  bool standard_only_;
  std::span<const Pass> passes_;
  Captures captures_;
  EditContext context_;
  OptimizeReport report_;
  bool made_initializers_ = false;
  std::unordered_set<std::string> names_;
  int64_t names_made_ = 0;
};

// Tests ask for other numbers.
int64_t FromEnvironment(const char* name, int64_t usual) {
  const char* const value = std::getenv(name);
  return value != nullptr ? std::strtoll(value, nullptr, 10) : usual;
}

}  // namespace

int64_t LeastFused() {
  constexpr int64_t kLeast = 1 << 18, kMost = 1 << 22;
  const int64_t half = sysconf(_SC_LEVEL3_CACHE_SIZE) / 2 / static_cast<int64_t>(sizeof(float));
  return FromEnvironment("ONNXSEQ_FUSE_FROM", std::clamp(half, kLeast, kMost));
}

int64_t LeastGrouped() { return FromEnvironment("ONNXSEQ_GROUP_FROM", static_cast<int64_t>(kernels::kWorthAThread)); }

OptimizeReport OptimizeGraphs(ModelProto& model, const TypeKnowledge& types, const OptimizeOptions& options) {
  return Optimizer(model, types, options, kPasses).Run();
}

OptimizeReport BatchAllSequenceMaps(ModelProto& model, const TypeKnowledge& types) {
  return Optimizer(model, types, {.standard_only = true}, kMapPasses).Run();
}

}  // namespace ONNX_LIGHT_NAMESPACE
