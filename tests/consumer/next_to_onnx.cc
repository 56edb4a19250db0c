// SPDX-License-Identifier: Apache-2.0
// One program that uses this library and the official onnx package, whose namespace is `onnx`.
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>
// Ours, without the alias.
#include <onnx_optim/shapes/shape_inference.h>
// The official package names its directory differently, so both headers are at hand.
#include <onnx_proto/onnx.h>

#include <string>

#include "check.h"

int main() {
  ONNX_LIGHT_NAMESPACE::ModelProto ours;
  ours.set_ir_version(8);
  ours.add_opset_import()->set_version(13);
  auto* input = ours.mutable_graph()->add_input();
  input->set_name("x");
  input->mutable_type()->mutable_tensor_type()->set_elem_type(1);
  input->mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(3);
  auto* node = ours.mutable_graph()->add_node();
  node->set_op_type("Identity");
  node->add_input("x");
  node->add_output("y");
  ours.mutable_graph()->add_output()->set_name("y");

  std::string bytes;
  ours.SerializeToString(bytes);
  onnx::ModelProto theirs;
  CHECK(theirs.ParseFromString(bytes));
  onnx::shape_inference::InferShapes(theirs);
  ONNX_LIGHT_NAMESPACE::onnx_optim::shapes::InferShapesModel(ours);
  CHECK(theirs.graph().output(0).type().tensor_type().shape().dim(0).dim_value() == 3);
  const auto& graph = static_cast<const ONNX_LIGHT_NAMESPACE::ModelProto&>(ours).graph();
  CHECK(graph.output(0).type().tensor_type().shape().dim(0).dim_value() == 3);
  return 0;
}
