// SPDX-License-Identifier: Apache-2.0
#include "graph/node_attributes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class NodeAttributesTest : public testing::Test {
 protected:
  AttributeProto& Add(const char* name, AttributeProto::AttributeType type) {
    AttributeProto& attribute = *node_.add_attribute();
    attribute.set_name(name);
    if (type != AttributeProto::UNDEFINED) attribute.set_type(type);
    return attribute;
  }
  std::string ErrorOf(const std::function<void()>& fn) {
    try {
      fn();
    } catch (const InvalidArgument& e) {
      return e.what();
    }
    return "no error";
  }
  NodeProto node_;
  NodeAttributes attrs_{node_};
};

TEST_F(NodeAttributesTest, ValuesOfEveryType) {
  Add("i", AttributeProto::INT).set_i(7);
  Add("f", AttributeProto::FLOAT).set_f(0.5f);
  Add("s", AttributeProto::STRING).set_s("text");
  AttributeProto& ints = Add("ints", AttributeProto::INTS);
  ints.add_ints(1);
  ints.add_ints(-2);
  Add("floats", AttributeProto::FLOATS).add_floats(2.5f);
  Add("strings", AttributeProto::STRINGS).add_strings("a");
  Add("g", AttributeProto::GRAPH).mutable_g()->set_name("body");
  Add("t", AttributeProto::TENSOR).mutable_t()->set_name("w");
  EXPECT_TRUE(attrs_.Has("i"));
  EXPECT_FALSE(attrs_.Has("j"));
  EXPECT_EQ(attrs_.Int("i"), 7);
  EXPECT_EQ(attrs_.Int("i", 1), 7);
  EXPECT_EQ(attrs_.Float("f", 1), 0.5f);
  EXPECT_EQ(attrs_.String("s", ""), "text");
  EXPECT_THAT(attrs_.Ints("ints"), ElementsAre(1, -2));
  EXPECT_THAT(*attrs_.FindInts("ints"), ElementsAre(1, -2));
  EXPECT_THAT(attrs_.Floats("floats"), ElementsAre(2.5f));
  EXPECT_THAT(attrs_.Strings("strings"), ElementsAre("a"));
  EXPECT_EQ(attrs_.Graph("g").name().as_string(), "body");
  EXPECT_EQ(attrs_.FindTensor("t")->name().as_string(), "w");
}

TEST_F(NodeAttributesTest, AbsentOnes) {
  EXPECT_EQ(attrs_.Int("i", 3), 3);
  EXPECT_EQ(attrs_.Float("f", 1.5f), 1.5f);
  EXPECT_EQ(attrs_.String("s", "forward"), "forward");
  EXPECT_THAT(attrs_.Ints("ints"), IsEmpty());
  EXPECT_EQ(attrs_.FindInts("ints"), std::nullopt);
  EXPECT_THAT(attrs_.Floats("floats"), IsEmpty());
  EXPECT_THAT(attrs_.Strings("strings"), IsEmpty());
  EXPECT_EQ(attrs_.FindTensor("t"), nullptr);
  EXPECT_EQ(ErrorOf([&] { (void)attrs_.Int("i"); }), "attribute 'i': is missing");
  EXPECT_EQ(ErrorOf([&] { (void)attrs_.Graph("body"); }), "attribute 'body': is missing");
}

TEST_F(NodeAttributesTest, WrongTypes) {
  Add("axis", AttributeProto::FLOAT).set_f(1);
  Add("to", AttributeProto::STRING).set_s("x");
  Add("n", AttributeProto::INT).set_i(1);
  EXPECT_EQ(ErrorOf([&] { (void)attrs_.Int("axis", 0); }), "attribute 'axis': must be an int, is a float");
  EXPECT_EQ(ErrorOf([&] { (void)attrs_.Int("to"); }), "attribute 'to': must be an int, is a string");
  EXPECT_EQ(ErrorOf([&] { (void)attrs_.Float("n", 0); }), "attribute 'n': must be a float, is an int");
  EXPECT_EQ(ErrorOf([&] { (void)attrs_.String("n", ""); }), "attribute 'n': must be a string, is an int");
  EXPECT_EQ(ErrorOf([&] { (void)attrs_.FindInts("n"); }), "attribute 'n': must be ints, is an int");
  EXPECT_EQ(ErrorOf([&] { (void)attrs_.Floats("n"); }), "attribute 'n': must be floats, is an int");
  EXPECT_EQ(ErrorOf([&] { (void)attrs_.Strings("n"); }), "attribute 'n': must be strings, is an int");
  EXPECT_EQ(ErrorOf([&] { (void)attrs_.Graph("n"); }), "attribute 'n': must be a graph, is an int");
  EXPECT_EQ(ErrorOf([&] { (void)attrs_.FindTensor("n"); }), "attribute 'n': must be a tensor, is an int");
}

TEST_F(NodeAttributesTest, FilesThatLeaveTheTypeOut) {
  Add("axis", AttributeProto::UNDEFINED).set_i(4);
  Add("perm", AttributeProto::UNDEFINED).add_ints(1);
  Add("axes", AttributeProto::UNDEFINED);
  EXPECT_EQ(attrs_.Int("axis"), 4);
  EXPECT_THAT(attrs_.Ints("perm"), ElementsAre(1));
  EXPECT_THAT(attrs_.Ints("axes"), IsEmpty());
  EXPECT_EQ(ErrorOf([&] { (void)attrs_.Int("axes"); }), "attribute 'axes': must be an int, is of no type");
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
