// SPDX-License-Identifier: Apache-2.0
// A program written against the names of later releases of the reference.
#include <onnx_core/shapes/shape_inference.h>
#include <onnx_core/shapes/shapes_context.h>
#include <onnx_core/symbolic/sym_sequence.h>
#include <onnx_core/symbolic/sym_tensor.h>
#include <onnx_extensions/shapes/shapes/sequence/shape_sequence.h>
#include <onnx_proto/onnx.h>

#include <vector>

#include "check.h"

using namespace ONNX_LIGHT_NAMESPACE;
using core::shapes::ShapesContext;
using core::symbolic::SymDim;
using core::symbolic::SymSequence;
using core::symbolic::SymShape;
using core::symbolic::SymTensor;
using core::symbolic::TensorType;

int main() {
  ShapesContext ctx;
  ctx.Set("x", SymTensor(nullptr, TensorType::kFloat, SymShape{2, "N"}));
  NodeProto node;
  node.set_op_type("SequenceConstruct");
  node.add_input("x");
  node.add_input("x");
  node.add_output("s");
  ctx.ComputeShapeNode(node);
  CHECK(ctx.GetSequence("s") == SymSequence(TensorType::kFloat, std::vector<SymShape>{{2, "N"}, {2, "N"}}));

  NodeProto length;
  length.set_op_type("SequenceLength");
  length.add_input("s");
  length.add_output("n");
  onnx_shapes::shapes::sequence::ComputeShapeSequenceLength(ctx, length);
  CHECK(ctx.Get("n").Dtype() == TensorType::kInt64);
  ctx.ComputeShapes(std::vector<NodeProto>{length});

  GraphProto graph;
  *graph.add_node() = length;
  ctx.ComputeShapeGraph(graph);
  CHECK(ctx.Problems().empty());
  ModelProto model;
  *model.mutable_graph() = graph;
  model.add_opset_import()->set_version(17);
  ctx.ComputeShapeModel(model);
  ctx.ApplyInferredShapesToModel(model);
  CHECK(core::symbolic::ToTypeString(TensorType::kInt64) == "tensor(int64)");
  CHECK(SymDim("N") + 1 == SymDim("1+N"));
  return 0;
}
