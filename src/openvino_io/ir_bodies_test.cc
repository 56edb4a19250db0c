// SPDX-License-Identifier: Apache-2.0
// If, Loop and variables as OpenVINO writes them; that the numbers are OpenVINO's is tests/peers/ir_values.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "openvino_io/ir_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string FileText(const std::string& name) {
  std::ifstream file(ONNXSEQ_TEST_DATA "/ir_bodies/" + name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// A file of tests/data with the first `from` in its text replaced.
ModelProto ParseWith(const std::string& name, const std::string& from = {}, const std::string& to = {}) {
  std::string xml = FileText(name + ".xml");
  const size_t at = xml.find(from);
  if (at == std::string::npos) throw std::runtime_error("the text has no " + from);
  return ParseIr(xml.replace(at, from.size(), to), Bytes(FileText(name + ".bin")));
}

std::vector<std::string> BodyNodes(const NodeProto& node, int attribute) {
  std::vector<std::string> lines;
  for (const NodeProto& inner : node.attribute(attribute).g().node()) lines.push_back(Describe(inner));
  return lines;
}

TEST(IrBodies, IfTakesItsInputsAsOuterValues) {
  const ModelProto model = ParseWith("if");
  EXPECT_THAT(Nodes(model), ElementsAre("Result_26 = If(c) then_branch=? else_branch=?"));
  EXPECT_THAT(BodyNodes(model.graph().node(0), 0),
              ElementsAre("Result_22 = Relu(a)", "If_25/then = Identity(Result_22)"));
  EXPECT_THAT(BodyNodes(model.graph().node(0), 1),
              ElementsAre("Result_24 = Abs(a)", "If_25/else = Identity(Result_24)"));
}

TEST(IrBodies, LoopGathersItsSlices) {
  const ModelProto model = ParseWith("loop");
  const auto nodes = Nodes(model);
  ASSERT_FALSE(nodes.empty());
  EXPECT_EQ(nodes.front(), "Loop_14/last, Loop_14/all = Loop(Constant_12, Constant_13, x) body=?");
  EXPECT_THAT(nodes, ElementsAre(HasSubstr("= Loop("), "Result_15 = Identity(Loop_14/last)",
                                 "Result_16 = Identity(Loop_14/all)"));
  EXPECT_THAT(BodyNodes(model.graph().node(0), 0), testing::Contains("Loop_14/slice = Gather(s, Loop_14/at) axis=0"));
}

TEST(IrBodies, WhatDoesNotHoldIsAnError) {
  const auto failed = [](const char* file, const std::string& from, const std::string& to) {
    return IrMessage<ModelParseError>([&] { ParseWith(file, from, to); });
  };
  EXPECT_THAT(failed("loop", "purpose=\"execution_condition\"", "purpose=\"none\""),
              HasSubstr("names no output as the execution_condition"));
  EXPECT_THAT(failed("loop", "<output axis=\"0\"", "<output axis=\"7\""),
              HasSubstr("concatenates along axis 7 of rank 2"));
  EXPECT_THAT(failed("loop", "internal_layer_id=\"2\"", "internal_layer_id=\"99\""),
              HasSubstr("names layer 99 of the body, which is no Parameter"));
  EXPECT_THAT(failed("if", "<output external_port_id=\"2\"", "<bogus external_port_id=\"2\""),
              HasSubstr("output port 2 must be there once"));
}

TEST(IrBodies, WhatIsNotReadIsRefused) {
  EXPECT_THAT(IrMessage<Unsupported>([] { ParseWith("if", "type=\"ReLU\"", "type=\"Sparkle\""); }),
              HasSubstr("\"Relu_21\" (Sparkle, opset1)"));
  EXPECT_THAT(IrMessage<Unsupported>([] { ParseWith("loop", "part_size=\"1\"", "part_size=\"3\""); }),
              HasSubstr("slices from 0 to -1 by 1 of size 3"));
}

TEST(IrBodies, VariablesOfAFile) {
  const ModelProto model = ParseWith("state");
  EXPECT_THAT(Nodes(model), ElementsAre("ReadValue_29 = Identity(v1)", HasSubstr("= Add(ReadValue_29, a)"),
                                        HasSubstr("v1/next = Identity("), HasSubstr("= Identity(v1/next)")));
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
