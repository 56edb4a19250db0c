// SPDX-License-Identifier: Apache-2.0
// Shape inference of nodes, graphs and models into a ShapesContext.
//
// ComputeShapeNode and ComputeShapes throw for what is wrong; the walks over a whole graph or model note it in
// ctx.Problems(), leave the outputs concerned unknown, and go on. One context belongs to one thread at a time.
#pragma once

#include "onnx_optim/shapes/shapes_context.h"
#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {
namespace shapes {

// Infers the outputs of one node from its inputs, which the context must hold; uses the context's precision, operator
// set (the newest known when it has none), local functions and custom rules. Throws std::invalid_argument for an
// unsupported operator, a foreign domain without a registered rule, or a rejected node; std::out_of_range for a missing
// input. On a throw the context is unchanged.
ONNXSEQ_API void ComputeShapeNode(ShapesContext& ctx, const NodeProto& node);

// ComputeShapeNode for each node in turn; `nodes` is any range of NodeProto. On a throw what was inferred before stays.
template <class Nodes>
void ComputeShapes(ShapesContext& ctx, const Nodes& nodes) {
  for (const NodeProto& node : nodes) ComputeShapeNode(ctx, node);
}
template <class Nodes>
void ShapesContext::ComputeShapes(const Nodes& nodes) {
  shapes::ComputeShapes(*this, nodes);
}

// Binds inputs (the context's own entries go before the declared types) and initializers, then infers every node,
// sorting them when they are not. Uses the context's precision. Never throws for what it finds.
ONNXSEQ_API void ComputeShapeGraph(ShapesContext& ctx, const GraphProto& graph);

// The same for a model, with its operator sets and local functions, in exact precision, which the context keeps.
// std::invalid_argument when the model has no graph.
ONNXSEQ_API void ComputeShapeModel(ShapesContext& ctx, const ModelProto& model);

// Writes what the context knows: value_info of the values inside, types of the outputs. What a file declares stays as
// it is spelled; only what it leaves open is filled in. Values nothing is known of are left out.
ONNXSEQ_API void ApplyInferredShapesToGraph(const ShapesContext& ctx, GraphProto& graph);
// std::invalid_argument when the model has no graph.
ONNXSEQ_API void ApplyInferredShapesToModel(const ShapesContext& ctx, ModelProto& model);

// Infers the model in exact precision and writes the result into it, bodies of nodes included. Problems are not
// reported here: use ComputeShapeModel to see them. std::invalid_argument when the model has no graph.
ONNXSEQ_API void InferShapesModel(ModelProto& model);

}  // namespace shapes
}  // namespace onnx_optim
}  // namespace ONNX_LIGHT_NAMESPACE
