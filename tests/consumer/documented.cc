// SPDX-License-Identifier: Apache-2.0
// A program written against the documented names alone.
#include <onnx_optim/optim_sequence.h>
#include <onnx_optim/optim_tensor.h>
#include <onnx_optim/shapes/sequence/shape_sequence.h>
#include <onnx_optim/shapes/shape_inference.h>
#include <onnx_optim/shapes/shapes_context.h>
#include <onnx_proto/onnx.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "check.h"

#ifndef ONNX_API
#error "ONNX_API must be defined"
#endif
ONNX_API void DecoratedAsOtherHeadersAre();

using namespace ONNX_LIGHT_NAMESPACE;
using onnx_optim::OptimDim;
using onnx_optim::OptimSequence;
using onnx_optim::OptimShape;
using onnx_optim::OptimTensor;
using onnx_optim::TensorType;
using onnx_optim::shapes::ShapesContext;
namespace sequence = onnx_optim::shapes::sequence;

namespace {

NodeProto MakeNode(const std::string& op_type, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs) {
  NodeProto node;
  node.set_op_type(op_type);
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  return node;
}

void AddInt(NodeProto& node, const char* name, int64_t value) {
  AttributeProto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(AttributeProto::INT);
  attribute->set_i(value);
}

void Messages() {
  NodeProto node = MakeNode("Add", {"a", "b"}, {"c"});
  node.add_input("literal");
  CHECK(node.input_size() == 3 && node.input(2) == "literal");
  CHECK(node.input(0).as_string() == "a");
  CHECK(!node.has_name());
  node.set_name("n");
  CHECK(node.has_name() && node.name() == "n");
  node.clear_name();
  CHECK(!node.has_name());
  *node.mutable_name() = "m";
  CHECK(node.ref_name() == "m");
  node.ref_attribute().clear();
  CHECK(node.attribute_size() == 0);

  AttributeProto* attribute = node.add_attribute();
  attribute->set_type(AttributeProto::AttributeType::GRAPH);
  GraphProto graph;
  graph.set_name("g");
  *attribute->add_g() = std::move(graph);
  CHECK(attribute->g().name() == "g");
  *attribute->mutable_g() = GraphProto();
  CHECK(attribute->g().name().empty());

  TypeProto type;
  type.mutable_tensor_type()->set_elem_type(TensorProto::INT64);
  type.ref_tensor_type().ref_shape().add_dim()->set_dim_value(2);
  type.ref_tensor_type().ref_shape().add_dim()->set_dim_param("N");
  CHECK(type.tensor_type().shape().dim_size() == 2);
  CHECK(type.tensor_type().shape().dim(1).dim_param() == "N");
  CHECK(TensorProto_DataType_FLOAT == TensorProto::FLOAT);

  std::string bytes;
  node.SerializeToString(bytes);
  std::string again;
  node.SerializeToString(&again);
  CHECK(bytes == again);
  NodeProto read;
  CHECK(read.ParseFromString(bytes));
  CHECK(read.op_type() == "Add" && read.input_size() == 3);
  NodeProto copy;
  copy.CopyFrom(read);
  CHECK(copy.output(0) == "c");
  CHECK_THROWS(std::runtime_error, read.ParseFromString(std::string("\xff\xff\xff")));
}

void ValueTypes() {
  CHECK(static_cast<int32_t>(TensorType::kFloat) == TensorProto::FLOAT);
  CHECK(onnx_optim::DataTypeToTensorType(TensorProto::INT64) == TensorType::kInt64);
  CHECK(onnx_optim::DataTypeToTensorType(12345) == TensorType::kUndefined);
  CHECK(onnx_optim::TensorTypeToDataType(TensorType::kBfloat16) == TensorProto::BFLOAT16);
  CHECK(onnx_optim::IsIntegerTensorType(TensorType::kUint8));
  CHECK(onnx_optim::ToTypeString(TensorType::kFloat) == "tensor(float)");

  const std::vector<int> v{1, 2, 3};
  CHECK(OptimDim(v.size()) == OptimDim(3));
  CHECK(OptimDim(0).IsInt() && OptimDim(0).AsInt() == 0);
  CHECK(OptimDim("N").IsExpr() && OptimDim(std::string("N")).AsExpr() == "N");
  CHECK_THROWS(std::bad_variant_access, static_cast<void>(OptimDim("N").AsInt()));
  CHECK_THROWS(std::bad_variant_access, static_cast<void>(OptimDim(2).AsExpr()));
  CHECK(OptimDim("N") + 1 == OptimDim("1+N"));
  CHECK(OptimDim("28").IsExpr() && OptimDim("past length").AsExpr() == "past length");

  OptimShape shape{2, "N"};
  CHECK(shape.Rank() == 2 && !shape.Empty() && !shape.IsFullyKnown() && shape.ToString() == "[2,N]");
  CHECK_THROWS(std::out_of_range, static_cast<void>(shape[2]));
  CHECK_THROWS(std::runtime_error, static_cast<void>(shape.NumElements()));
  shape[1] = 3;
  CHECK(shape.NumElements() == 6 && OptimShape{}.NumElements() == 1);
  shape.PushBack(4);
  CHECK(shape == (OptimShape{2, 3, 4}));
  CHECK(OptimShape::Unknown() == OptimShape{} && OptimShape::Unknown().IsUnknown() && !OptimShape{}.IsUnknown());

  OptimTensor tensor(nullptr, TensorType::kInt64, OptimShape{2});
  CHECK(tensor.IsNull() && tensor.Data() == nullptr && !tensor.HasValueAsShape());
  CHECK_THROWS(std::bad_optional_access, static_cast<void>(tensor.ValueAsShape()));
  tensor.SetValueAsShape(OptimShape{1, 2});
  CHECK(tensor.ValueAsShape()[1] == OptimDim(2));
  tensor.ClearValueAsShape();
  CHECK(!tensor.HasValueAsShape());

  OptimSequence empty;
  CHECK(!empty.HasElemDtype() && !empty.HasElemShapes() && empty.Length() == OptimDim(0));
  OptimSequence listed(TensorType::kFloat, std::vector<OptimShape>{OptimShape{2}, OptimShape{3}});
  CHECK(listed.HasElemShapes() && listed.Length() == OptimDim(2));
  listed.ElemShapes().pop_back();
  CHECK(listed.Length() == OptimDim(2));
  listed.ClearElemShapes();
  CHECK(!listed.HasElemShapes() && listed.Length() == OptimDim(2));
  OptimSequence symbolic(TensorType::kFloat, OptimDim("L"));
  CHECK(symbolic.Length().AsExpr() == "L" && !symbolic.HasElemShapes());
}

void NineFunctions() {
  ShapesContext ctx;
  ctx.Set("a", OptimTensor(nullptr, TensorType::kFloat, OptimShape{2, 3}));
  ctx.Set("b", OptimTensor(nullptr, TensorType::kFloat, OptimShape{4, 3}));
  sequence::ComputeShapeSequenceConstruct(ctx, MakeNode("SequenceConstruct", {"a", "b"}, {"s"}));
  CHECK(ctx.HasSequence("s") && !ctx.Has("s") && ctx.GetSequence("s").ElemShapes().size() == 2);

  NodeProto concat = MakeNode("ConcatFromSequence", {"s"}, {"c"});
  AddInt(concat, "axis", 0);
  sequence::ComputeShapeConcatFromSequence(ctx, concat);
  CHECK(ctx.Get("c").Shape() == (OptimShape{6, 3}));

  sequence::ComputeShapeSequenceLength(ctx, MakeNode("SequenceLength", {"s"}, {"n"}));
  CHECK(ctx.Get("n").Dtype() == TensorType::kInt64 && ctx.Get("n").Shape().Rank() == 0);
  sequence::ComputeShapeSequenceEmpty(ctx, MakeNode("SequenceEmpty", {}, {"e"}));
  CHECK(ctx.GetSequence("e").Length() == OptimDim(0));
  sequence::ComputeShapeSequenceErase(ctx, MakeNode("SequenceErase", {"s"}, {"r"}));
  CHECK(ctx.GetSequence("r").Length() == OptimDim(1));
  sequence::ComputeShapeSequenceInsert(ctx, MakeNode("SequenceInsert", {"s", "a"}, {"i"}));
  CHECK(ctx.GetSequence("i").Length() == OptimDim(3) && !ctx.GetSequence("i").HasElemShapes());
  sequence::ComputeShapeSequenceAt(ctx, MakeNode("SequenceAt", {"s", "position"}, {"t"}));
  CHECK(ctx.Get("t").Dtype() == TensorType::kFloat && ctx.Get("t").Shape().Empty());
  sequence::ComputeShapeSplitToSequence(ctx, MakeNode("SplitToSequence", {"a"}, {"p"}));
  CHECK(ctx.GetSequence("p").ElemShapes() == (std::vector<OptimShape>{{1, 3}, {1, 3}}));

  NodeProto map = MakeNode("SequenceMap", {"s"}, {"m"});
  AttributeProto* body = map.add_attribute();
  body->set_name("body");
  body->set_type(AttributeProto::GRAPH);
  GraphProto graph;
  graph.add_input()->set_name("x");
  graph.add_output()->set_name("y");
  *graph.add_node() = MakeNode("Identity", {"x"}, {"y"});
  *body->mutable_g() = std::move(graph);
  sequence::ComputeShapeSequenceMap(ctx, map);
  CHECK(ctx.GetSequence("m").ElemDtype() == TensorType::kFloat && ctx.GetSequence("m").Length() == OptimDim(2));

  CHECK_THROWS(std::invalid_argument, sequence::ComputeShapeSequenceAt(ctx, MakeNode("Add", {"s", "position"}, {"q"})));
  CHECK_THROWS(std::invalid_argument, sequence::ComputeShapeSequenceLength(ctx, MakeNode("SequenceLength", {"s"}, {})));
  CHECK_THROWS(std::out_of_range, sequence::ComputeShapeSequenceLength(ctx, MakeNode("SequenceLength", {"a"}, {"q"})));
  CHECK(!ctx.Has("q") && !ctx.HasSequence("q"));
}

void Walks() {
  ShapesContext ctx;
  ctx.Set("x", OptimTensor(nullptr, TensorType::kFloat, OptimShape{"N", 4}));
  onnx_optim::shapes::ComputeShapeNode(ctx, MakeNode("SequenceConstruct", {"x", "x"}, {"s"}));
  const std::vector<NodeProto> nodes{MakeNode("SequenceLength", {"s"}, {"n"})};
  onnx_optim::shapes::ComputeShapes(ctx, nodes);
  CHECK(ctx.Has("n"));
  CHECK_THROWS(std::invalid_argument, onnx_optim::shapes::ComputeShapeNode(ctx, MakeNode("NoSuchOp", {"x"}, {"y"})));

  ModelProto model;
  CHECK_THROWS(std::invalid_argument, onnx_optim::shapes::InferShapesModel(model));
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  GraphProto& graph = *model.mutable_graph();
  ValueInfoProto* input = graph.add_input();
  input->set_name("x");
  input->mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::FLOAT);
  input->mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_param("N");
  *graph.add_node() = MakeNode("SequenceConstruct", {"x", "x"}, {"s"});
  NodeProto concat = MakeNode("ConcatFromSequence", {"s"}, {"y"});
  AddInt(concat, "axis", 0);
  *graph.add_node() = concat;
  graph.add_output()->set_name("y");
  ShapesContext inferred;
  onnx_optim::shapes::ComputeShapeModel(inferred, model);
  CHECK(inferred.Problems().empty());
  CHECK(inferred.Get("y").Shape() == (OptimShape{"2*N"}));
  onnx_optim::shapes::ApplyInferredShapesToModel(inferred, model);
  CHECK(std::as_const(model).graph().output(0).type().tensor_type().shape().dim(0).dim_param() == "2*N");
}

}  // namespace

int main() {
  Messages();
  ValueTypes();
  NineFunctions();
  Walks();
#ifndef ONNX_LIGHT_NO_ONNX_ALIAS
  // The literal namespace is the same one.
  const onnx::NodeProto& node = ONNX_NAMESPACE::NodeProto();
  CHECK(node.op_type().empty());
#endif
  const onnxseq::NodeProto& same = NodeProto();
  CHECK(same.op_type().empty());
  return 0;
}
