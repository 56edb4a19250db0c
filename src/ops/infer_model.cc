// SPDX-License-Identifier: Apache-2.0
// The walk over a main graph, and the public functions that begin one.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "onnx_optim/shapes/shape_inference.h"
#include "onnxseq/errors.h"
#include "ops/declared_types.h"
#include "ops/infer_graph.h"

namespace ONNX_LIGHT_NAMESPACE {

using onnx_optim::shapes::Problem;

void GraphInference::MainGraph(ShapesContext& ctx, const GraphProto& graph, bool defaults_are_constant, bool compare) {
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
  compare = compare && ctx.IsExact();
  if (compare) {
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
    if (outside && output.has_type() && compare) {
      CompareWithDeclared(ctx, output.name(), output.type(),
                          {{}, {}, fmt::format("graph output \"{}\"", std::string_view(output.name())), {}});
    }
  }
}

void InferModel(ShapesContext& ctx, const ModelProto& model, InferenceRecord* record, bool compare) {
  if (!model.has_graph()) throw InvalidArgument("the model has no graph");
  ctx.SetPrecision(onnx_optim::shapes::Precision::kExact);
  for (const OperatorSetIdProto& import : model.opset_import()) ctx.SetOpsetVersion(import.domain(), import.version());
  for (const FunctionProto& function : model.functions()) ctx.SetLocalFunction(function);
  GraphInference inference(GraphInference::Mode::kRecord, record);
  inference.MainGraph(ctx, model.graph(), model.ir_version() > 0 && model.ir_version() < 4, compare);
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

void ShapesContext::ComputeShapeNode(const NodeProto& node) { shapes::ComputeShapeNode(*this, node); }
void ShapesContext::ComputeShapeGraph(const GraphProto& graph) { shapes::ComputeShapeGraph(*this, graph); }
void ShapesContext::ComputeShapeModel(const ModelProto& model) { shapes::ComputeShapeModel(*this, model); }

}  // namespace shapes
}  // namespace onnx_optim

}  // namespace ONNX_LIGHT_NAMESPACE
