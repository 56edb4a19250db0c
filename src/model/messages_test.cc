// SPDX-License-Identifier: Apache-2.0
// The accessors: what API.md promises of messages.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <type_traits>

#include "model/wire.h"
#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Messages, StringsActAsStdString) {
  NodeProto node;
  EXPECT_FALSE(node.has_name());
  EXPECT_EQ(node.name(), "");
  node.set_op_type("Add");
  node.set_name(std::string("n"));
  node.set_domain(std::string_view("d"));
  EXPECT_TRUE(node.has_name());
  const std::string& as_string = node.op_type().as_string();
  EXPECT_EQ(as_string, "Add");
  const std::string copy = node.op_type();
  EXPECT_EQ(copy + node.name() + "x", "Addnx");
  EXPECT_EQ(fmt::format("{}/{}", node.domain(), node.name()), "d/n");
  std::map<std::string, int> by_name{{node.name(), 1}};
  EXPECT_EQ(by_name.at(node.name()), 1);
  node.set_name(node.op_type());
  EXPECT_EQ(node.name(), "Add");
  *node.mutable_name() = "m";
  node.ref_name() += "n";
  EXPECT_EQ(node.name(), "mn");
  node.clear_name();
  EXPECT_FALSE(node.has_name());
  node.set_name("");
  EXPECT_TRUE(node.has_name());
  EXPECT_EQ(::testing::PrintToString(node.op_type()), "\"Add\"");
}

TEST(Messages, RepeatedStrings) {
  NodeProto node;
  node.add_input("x");
  node.add_input(std::string("y"));
  *node.add_input() = "z";
  node.ref_input().push_back("w");
  node.ref_input().add() = "v";
  node.ref_input().add("u");
  EXPECT_EQ(node.input_size(), 6);
  EXPECT_EQ(node.input(1), "y");
  node.set_input(1, "Y");
  *node.mutable_input(2) = "Z";
  EXPECT_THAT(node.input(), ElementsAre("x", "Y", "Z", "w", "v", "u"));
  EXPECT_EQ(node.input()[3], "w");
  const std::vector<std::string> names(node.input().begin(), node.input().end());
  EXPECT_EQ(names.back(), "u");
  node.clear_input();
  EXPECT_THAT(node.input(), IsEmpty());
  EXPECT_FALSE(node.has_input());
  node.ref_output() = {"a", "b"};
  node.mutable_output()->reserve(10);
  EXPECT_THAT(node.output(), ElementsAre("a", "b"));
}

TEST(Messages, Numbers) {
  TensorProto tensor;
  tensor.set_data_type(TensorProto::FLOAT);
  tensor.add_dims(2);
  tensor.add_dims(3);
  tensor.set_dims(1, 4);
  tensor.ref_float_data() = {1, 2};
  EXPECT_EQ(tensor.dims(1), 4);
  EXPECT_EQ(tensor.dims().size(), 2u);
  EXPECT_THAT(tensor.float_data(), ElementsAre(1.f, 2.f));
  EXPECT_EQ(tensor.data_type(), TensorProto_DataType_FLOAT);
  AttributeProto attribute;
  EXPECT_EQ(attribute.i(), 0);
  attribute.set_i(3);
  attribute.ref_i() += 4;
  *attribute.mutable_f() = 2.5f;
  EXPECT_EQ(attribute.i(), 7);
  EXPECT_EQ(attribute.f(), 2.5f);
  attribute.clear_i();
  EXPECT_FALSE(attribute.has_i());
  EXPECT_EQ(attribute.i(), 0);
}

TEST(Messages, EnumsInThreeSpellings) {
  AttributeProto attribute;
  attribute.set_type(AttributeProto::AttributeType::INT);
  EXPECT_EQ(attribute.type(), AttributeProto::INT);
  EXPECT_EQ(attribute.type(), AttributeProto_AttributeType_INT);
  const AttributeProto_AttributeType type = attribute.type();
  EXPECT_EQ(type, 2);
  TypeProto tensor;
  tensor.ref_tensor_type().set_elem_type(TensorProto::DataType::INT64);
  EXPECT_EQ(tensor.tensor_type().elem_type(), TensorProto::INT64);
  EXPECT_EQ(TensorProto::DataLocation::EXTERNAL, TensorProto_DataLocation_EXTERNAL);
  EXPECT_EQ(Version::IR_VERSION, 14);
  EXPECT_EQ(SequenceProto::TENSOR, 1);
}

TEST(Messages, SingularMessages) {
  AttributeProto attribute;
  GraphProto graph;
  graph.set_name("g");
  const AttributeProto& constant = attribute;
  EXPECT_EQ(constant.g().name(), "");
  EXPECT_FALSE(attribute.has_g());
  *attribute.add_g() = std::move(graph);
  EXPECT_EQ(attribute.g().name(), "g");
  EXPECT_EQ(attribute.add_g(), attribute.mutable_g());
  GraphProto other;
  other.set_name("h");
  *attribute.mutable_g() = other;
  EXPECT_EQ(attribute.ref_g().name(), "h");
  other.set_name("i");
  attribute.set_g(other);
  EXPECT_EQ(constant.ref_g().name(), "i");
  attribute.clear_g();
  EXPECT_FALSE(attribute.has_g());
  attribute.g();
  EXPECT_TRUE(attribute.has_g());
}

TEST(Messages, ChainsOfTheReference) {
  TypeProto type;
  type.ref_tensor_type().ref_shape().add_dim()->set_dim_value(2);
  TensorShapeProto::Dimension& second = type.ref_tensor_type().ref_shape().ref_dim().add();
  second.set_dim_param("N");
  type.mutable_tensor_type()->set_elem_type(1);
  EXPECT_EQ(type.ref_tensor_type().ref_shape().ref_dim()[0].ref_dim_value(), 2);
  EXPECT_EQ(type.tensor_type().shape().dim(1).dim_param(), "N");
  EXPECT_EQ(type.tensor_type().shape().dim_size(), 2);
  NodeProto node;
  AttributeProto* attribute = node.add_attribute();
  attribute->set_name("axis");
  node.ref_attribute().clear();
  EXPECT_EQ(node.attribute_size(), 0);
}

TEST(Messages, Oneofs) {
  TensorShapeProto::Dimension dim;
  EXPECT_EQ(dim.value_case(), TensorShapeProto::Dimension::VALUE_NOT_SET);
  dim.set_dim_value(3);
  EXPECT_TRUE(dim.has_dim_value());
  dim.set_dim_param("N");
  EXPECT_FALSE(dim.has_dim_value());
  EXPECT_EQ(dim.dim_value(), 0);
  EXPECT_EQ(dim.value_case(), TensorShapeProto::Dimension::kDimParam);
  dim.clear_dim_value();  // not the active one
  EXPECT_EQ(dim.dim_param(), "N");
  dim.clear_dim_param();
  EXPECT_EQ(dim.value_case(), TensorShapeProto::Dimension::VALUE_NOT_SET);

  TypeProto type;
  type.mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(7);
  EXPECT_EQ(type.value_case(), TypeProto::kSequenceType);
  const TypeProto& constant = type;
  EXPECT_FALSE(constant.has_tensor_type());
  EXPECT_EQ(constant.tensor_type().elem_type(), 0);
  EXPECT_TRUE(constant.has_sequence_type());
  type.ref_tensor_type();
  EXPECT_FALSE(type.has_sequence_type());
  type.clear_value();
  EXPECT_EQ(type.value_case(), TypeProto::VALUE_NOT_SET);
  SimpleShardedDimProto sharded;
  sharded.set_dim_param("M");
  EXPECT_EQ(sharded.dim_case(), SimpleShardedDimProto::kDimParam);
}

TEST(Messages, RepeatedMessagesKeepTheirAddress) {
  GraphProto graph;
  NodeProto* first = graph.add_node();
  for (int i = 0; i < 100; ++i) graph.add_node()->set_name(std::to_string(i));
  first->set_name("first");
  EXPECT_EQ(graph.node(0).name(), "first");
  EXPECT_EQ(graph.node_size(), 101);
  auto& nodes = graph.ref_node();
  nodes.erase(nodes.begin() + 1, nodes.begin() + 99);
  EXPECT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes.back().name(), "99");
  NodeProto inserted;
  inserted.set_name("in");
  EXPECT_EQ(nodes.insert(nodes.begin() + 1, inserted)->name(), "in");
  const auto names = [&] {
    std::string all;
    for (const NodeProto& node : graph.node()) all += node.name() + " ";
    return all;
  };
  EXPECT_EQ(names(), "first in 98 99 ");
  nodes.Permute({3, 2, 1, 0});
  EXPECT_EQ(names(), "99 98 in first ");
  EXPECT_EQ(&nodes[3], first);
  nodes.SwapElements(0, 3);
  nodes.pop_back();
  EXPECT_EQ(names(), "first 98 in ");
  EXPECT_EQ(
      std::find_if(nodes.begin(), nodes.end(), [](const NodeProto& n) { return n.name() == "in"; }) - nodes.begin(), 2);
  for (NodeProto& node : nodes) node.set_op_type("Op");
  EXPECT_EQ(graph.node(2).op_type(), "Op");
  GraphProto other;
  other.mutable_node()->extend(graph.node());
  EXPECT_EQ(other.node(), graph.node());
}

TEST(Messages, CopiesAreDeepAndEqual) {
  ModelProto model;
  NodeProto* node = model.mutable_graph()->add_node();
  node->set_op_type("If");
  node->add_attribute()->mutable_g()->set_name("body");
  node->mutable_attribute(0)->set_f(std::numeric_limits<float>::quiet_NaN());
  ModelProto copy = model;
  EXPECT_EQ(copy, model);
  copy.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g()->set_name("other");
  EXPECT_NE(copy, model);
  EXPECT_EQ(model.graph().node(0).attribute(0).g().name(), "body");
  ModelProto moved = std::move(copy);
  EXPECT_EQ(moved.graph().node(0).attribute(0).g().name(), "other");
  copy.CopyFrom(model);
  EXPECT_EQ(copy, model);
  copy.Swap(&moved);
  EXPECT_EQ(moved, model);
  copy.Clear();
  EXPECT_EQ(copy, ModelProto());
  // Presence and the sign of zero count.
  AttributeProto a, b;
  a.set_i(0);
  EXPECT_NE(a, b);
  a.clear_i();
  a.add_floats(0.f);
  b.add_floats(-0.f);
  EXPECT_NE(a, b);
}

TEST(Messages, AssigningAPartToTheWhole) {
  TypeProto type;
  type.mutable_sequence_type()
      ->mutable_elem_type()
      ->mutable_optional_type()
      ->mutable_elem_type()
      ->mutable_tensor_type()
      ->set_elem_type(9);
  TypeProto copy = type;
  copy = copy.sequence_type().elem_type();
  EXPECT_TRUE(copy.has_optional_type());
  type = std::move(*type.mutable_sequence_type()->mutable_elem_type());
  EXPECT_EQ(type, copy);
  TypeProto& self = type;
  type = std::move(self);
  EXPECT_EQ(type, copy);
}

TEST(Messages, BytesMovedFromAreEmpty) {
  Bytes a("text");
  Bytes b = std::move(a);
  EXPECT_TRUE(a.empty());  // NOLINT(bugprone-use-after-move): what is tested
  a = std::move(b);
  EXPECT_TRUE(b.empty());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(a, "text");
}

TEST(Messages, BytesAreSharedAndActAsStrings) {
  AttributeProto attribute;
  attribute.set_s("abc");
  std::string text = attribute.s();
  text = attribute.s();
  EXPECT_EQ(text, "abc");
  EXPECT_EQ(attribute.s(), "abc");
  EXPECT_EQ(attribute.s(), text);
  EXPECT_EQ(attribute.s().as_string() + "d", "abcd");
  EXPECT_EQ(attribute.s() + "d", "abcd");
  EXPECT_EQ(attribute.s().substr(1), "bc");
  EXPECT_EQ(attribute.s().find("c"), 2u);
  EXPECT_EQ(attribute.s()[1], 'b');
  EXPECT_LT(Bytes("a"), Bytes("b"));
  attribute.add_strings("x");
  attribute.add_strings(std::string("y\0z", 3));
  EXPECT_EQ(attribute.strings(1).size(), 3u);
  TensorProto tensor;
  const float values[] = {1, 2};
  tensor.set_raw_data(values, sizeof values);
  EXPECT_EQ(tensor.raw_data().size(), 8u);
  const TensorProto copy = tensor;
  EXPECT_EQ(copy.raw_data().data(), tensor.raw_data().data());
  tensor.mutable_raw_data()->append("!");
  EXPECT_EQ(tensor.raw_data().size(), 9u);
  EXPECT_EQ(copy.raw_data().size(), 8u);
  tensor.mutable_raw_data()->assign("zz", 2);
  EXPECT_EQ(tensor.raw_data(), "zz");
  tensor.clear_raw_data();
  EXPECT_FALSE(tensor.has_raw_data());
  EXPECT_EQ(::testing::PrintToString(attribute.s()), "\"abc\"");
}

TEST(Messages, SerializeForms) {
  NodeProto node;
  node.set_op_type("Add");
  std::string by_reference, by_pointer;
  EXPECT_TRUE(node.SerializeToString(by_reference));
  EXPECT_TRUE(node.SerializeToString(&by_pointer));
  EXPECT_EQ(by_reference, std::string("\x22\x03"
                                      "Add"));
  EXPECT_EQ(by_pointer, by_reference);
  EXPECT_EQ(node.SerializeAsString(), by_reference);
  NodeProto read;
  read.set_name("gone");
  EXPECT_TRUE(read.ParseFromString(by_reference));
  EXPECT_EQ(read, node);
  EXPECT_TRUE(read.ParseFromArray(by_pointer.data(), by_pointer.size()));
  EXPECT_THROW(read.ParseFromString("\x22\x7f"), ModelParseError);
  EXPECT_EQ(read, NodeProto());
}

static_assert(std::is_nothrow_move_constructible_v<ModelProto> && std::is_nothrow_move_assignable_v<ModelProto>);
static_assert(std::is_same_v<TypeProto::Tensor, TypeProto_Tensor>);
static_assert(std::random_access_iterator<RepeatedMessages<NodeProto>::iterator>);

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
