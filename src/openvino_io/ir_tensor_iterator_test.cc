// SPDX-License-Identifier: Apache-2.0
// TensorIterator as Scan; that the numbers are right is tested in tests/recurrent/ir_session_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "openvino_io/ir_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kDir = ONNXSEQ_TEST_DATA "/ir/";

std::string FileText(const std::string& name) {
  std::ifstream file(kDir + name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The reversed LSTM of tests/data with every `from` in its text replaced.
ModelProto ParseWith(const std::string& from = {}, const std::string& to = {}) {
  std::string xml = FileText("ti_lstmcell_rev.xml");
  if (!from.empty() && xml.find(from) == std::string::npos) throw std::runtime_error("the text has no " + from);
  for (size_t at = 0; !from.empty() && (at = xml.find(from, at)) != std::string::npos; at += to.size())
    xml.replace(at, from.size(), to);
  return ParseIr(xml, Bytes(FileText("ti_lstmcell_rev.bin")));
}

TEST(IrTensorIterator, BecomesAScan) {
  const ModelProto model = ParseWith();
  ASSERT_EQ(model.graph().node_size(), 1);
  const NodeProto& scan = model.graph().node(0);
  EXPECT_EQ(Describe(scan),
            "Result_11099, Result_11100, Result_11098 = Scan(h0, c0, X) body=? num_scan_inputs=1 scan_input_axes=[1] "
            "scan_input_directions=[1] scan_output_axes=[1] scan_output_directions=[1]");
  std::vector<std::string> nodes;
  for (const NodeProto& node : scan.attribute(0).g().node()) nodes.push_back(node.op_type().as_string());
  EXPECT_THAT(nodes, ElementsAre("Unsqueeze", "Squeeze", "LSTMCell", "Unsqueeze", "Identity", "Identity", "Squeeze"));
  EXPECT_EQ(scan.attribute(0).g().input_size(), 3);
  EXPECT_EQ(scan.attribute(0).g().output_size(), 3);
}

TEST(IrTensorIterator, InputsThatStayTheSameAreOuterValues) {
  // c is fed anew in each iteration.
  const ModelProto model = ParseWith("<edge from-layer=\"12\" to-layer=\"2\" />", "");
  const NodeProto& scan = model.graph().node(0);
  EXPECT_THAT(Nodes(model), ElementsAre(HasSubstr("= Scan(h0, X)"), HasSubstr("Gather("), HasSubstr("Squeeze(")))
      << "the last cell state is no state now: it is taken from all of them";
  bool refers = false;
  for (const NodeProto& node : scan.attribute(0).g().node())
    for (const auto& input : node.input()) refers = refers || input == "c0";
  EXPECT_TRUE(refers);
}

TEST(IrTensorIterator, WhatIsNotReadIsRefused) {
  const auto refused = [](const std::string& from, const std::string& to) {
    return IrMessage<Unsupported>([&] { ParseWith(from, to); });
  };
  EXPECT_THAT(refused("part_size=\"1\"", "part_size=\"2\""),
              HasSubstr("slices from -1 to 0 by -1 of size 2: only all of an axis, one by one, is read"));
  EXPECT_THAT(refused("start=\"-1\"", "start=\"-2\""), HasSubstr("slices from -2 to 0 by -1 of size 1"));
  EXPECT_THAT(refused("<input axis=\"1\" external_port_id=\"0\"", "<input external_port_id=\"0\""),
              HasSubstr("no input is sliced"));
  EXPECT_THAT(refused("type=\"LSTMCell\"", "type=\"AUGRUCell\""), HasSubstr("(AUGRUCell, opset4)"));
}

TEST(IrTensorIterator, WhatDoesNotHoldIsAnError) {
  const auto failed = [](const std::string& from, const std::string& to) {
    return IrMessage<ModelParseError>([&] { ParseWith(from, to); });
  };
  EXPECT_THAT(failed("external_port_id=\"0\"", "external_port_id=\"9\""),
              HasSubstr("names input port 9, there is none"));
  EXPECT_THAT(failed("internal_layer_id=\"0\"", "internal_layer_id=\"4\""),
              HasSubstr("attribute 'internal_layer_id' names layer 4 of the body, which is no Parameter"));
  EXPECT_THAT(failed("<input external_port_id=\"1\" internal_layer_id=\"1\" />", ""),
              HasSubstr("is fed by a back edge, but by no input at first"));
  EXPECT_THAT(failed("<input external_port_id=\"2\" internal_layer_id=\"2\" />",
                     "<input external_port_id=\"2\" internal_layer_id=\"1\" />"),
              HasSubstr("is fed by"));
  EXPECT_THAT(failed("<output external_port_id=\"5\" internal_layer_id=\"12\" />", ""),
              HasSubstr("output port 5 must be there once"));
  EXPECT_THAT(failed("axis=\"1\"", "axis=\"x\""), HasSubstr("attribute 'axis' must be an integer, got \"x\""));
  EXPECT_THAT(failed("to-layer=\"2\" />\n			</back_edges>",
                     "to-layer=\"1\" />\n			</back_edges>"),
              HasSubstr("two lead to layer 1 of the body"));
}

TEST(IrTensorIterator, BodiesInBodiesEnd) {
  // Each iterator's body is the next one; the innermost has no layers.
  std::string xml;
  for (int i = 0; i < 2000; ++i)
    xml +=
        "<layers><layer id=\"0\" name=\"x\" type=\"Parameter\" version=\"opset1\"><data shape=\"1,1\" "
        "element_type=\"f32\"/><output><port id=\"0\"/></output></layer><layer id=\"2\" name=\"r\" type=\"Result\" "
        "version=\"opset1\"><input><port id=\"0\"/></input></layer><layer id=\"1\" name=\"t\" "
        "type=\"TensorIterator\" version=\"opset1\"><port_map><input axis=\"0\" external_port_id=\"0\" "
        "internal_layer_id=\"0\"/><output external_port_id=\"1\" internal_layer_id=\"2\"/></port_map><input><port "
        "id=\"0\"/></input><output><port id=\"1\"/></output><body>";
  for (int i = 0; i < 2000; ++i)
    xml +=
        "</body></layer></layers><edges><edge from-layer=\"0\" from-port=\"0\" to-layer=\"1\" to-port=\"0\"/><edge "
        "from-layer=\"1\" from-port=\"1\" to-layer=\"2\" to-port=\"0\"/></edges>";
  EXPECT_THAT(
      IrMessage<Unsupported>([&] { ParseIr("<net name=\"n\" version=\"11\">" + xml + "</net>", std::nullopt); }),
      HasSubstr("bodies stand in each other more than 16 deep"));
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
