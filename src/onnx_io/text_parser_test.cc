// SPDX-License-Identifier: Apache-2.0
// Texts against what onnx.parser makes of them (tests/data/text, by tools/make_text_goldens.py), and what only we
// accept or refuse.
#include "onnx_io/text_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "model/wire.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

template <class M>
void Compare(const std::filesystem::path& text, M (*parse)(std::string_view)) {
  const M expected = ParseWire<M>(ReadFile(std::filesystem::path(text).replace_extension(".pb")), nullptr);
  const M ours = parse(ReadFile(text));
  EXPECT_EQ(ours.SerializeAsString(), expected.SerializeAsString()) << text;
  EXPECT_TRUE(ours == expected) << text;
}

TEST(TextParser, GivesWhatThePackageGives) {
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ONNXSEQ_TEST_DATA "/text")) {
    if (entry.path().extension() != ".txt") continue;
    const std::string kind = entry.path().stem().extension().string();
    if (kind == ".model") Compare<ModelProto>(entry.path(), ParseModelText);
    if (kind == ".graph") Compare<GraphProto>(entry.path(), ParseGraphText);
    if (kind == ".node") Compare<NodeProto>(entry.path(), ParseNodeText);
    if (kind == ".function") Compare<FunctionProto>(entry.path(), ParseFunctionText);
    ++seen;
  }
  EXPECT_EQ(seen, 13);
}

TEST(TextParser, Nodes) {
  const NodeProto node = ParseNodeText("[n] y = my.ns.Op:over <axis = -1> (x, \"\", z)");
  EXPECT_EQ(node.name(), "n");
  EXPECT_EQ(node.domain(), "my.ns");
  EXPECT_EQ(node.op_type(), "Op");
  EXPECT_EQ(node.overload(), "over");
  EXPECT_THAT(node.input(), ElementsAre("x", "", "z"));
  EXPECT_EQ(node.attribute(0).i(), -1);
  const RepeatedMessages<NodeProto> nodes = ParseNodesText("a = A(x)  # one\n b = B(a) <k = 1>\n");
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[1].attribute(0).name(), "k");
  EXPECT_TRUE(ParseNodesText(" # nothing").empty());
}

TEST(TextParser, ListsOfTensorsGraphsAndTypesKeepTheirElements) {
  EXPECT_EQ(ParseAttributeText("a = [float[1] {1}, int64 {2}]").tensors_size(), 2);
  const AttributeProto graphs = ParseAttributeText("a: graphs = [g (float x) => (y) { y = A(x) }, h () => () {}]");
  EXPECT_EQ(graphs.type(), AttributeProto::GRAPHS);
  ASSERT_EQ(graphs.graphs_size(), 2);
  EXPECT_EQ(graphs.graphs(0).node(0).op_type(), "A");
  const AttributeProto types = ParseAttributeText("a = [float[N], seq(int64[])]");
  EXPECT_EQ(types.type(), AttributeProto::TYPE_PROTOS);
  EXPECT_TRUE(types.type_protos(1).has_sequence_type());
}

TEST(TextParser, Tensors) {
  EXPECT_THAT(ParseTensorText("bool[3] {true, 0, false}").int32_data(), ElementsAre(1, 0, 0));
  EXPECT_THAT(ParseTensorText("int4[3] w = {-8, 7, -1}").int32_data(), ElementsAre(0x78, 0x0f));
  const TensorProto tensor = ParseTensorText("float[2, 1] w {1e-60, -3.5}");
  EXPECT_EQ(tensor.name(), "w");
  EXPECT_THAT(tensor.dims(), ElementsAre(2, 1));
  EXPECT_THAT(tensor.float_data(), ElementsAre(0.f, -3.5f));
  EXPECT_THAT(ParseTensorText("string[2] {\"a\", \"\"}").string_data(), ElementsAre("a", ""));
  EXPECT_EQ(ParseTypeText("seq(float[N])").sequence_type().elem_type().tensor_type().shape().dim(0).dim_param(), "N");
}

template <class Parse>
std::string Error(Parse parse, std::string_view text) {
  try {
    parse(text);
  } catch (const ModelParseError& e) {
    return e.what();
  }
  return "no error";
}

TEST(TextParser, ErrorsNameLineAndColumn) {
  const std::tuple<std::string, std::string> nodes[] = {
      {"y = Add (x", "byte 10: line 1, column 11: expected ')', found the end of the text"},
      {"y = A(x)\n z", "byte 10: line 2, column 2: expected the end of the text, found 'z'"},
      {"Add(x)", "byte 3: line 1, column 4: expected '=', found '('"},
      {"y = (x)", "byte 4: line 1, column 5: expected an operator, found '('"},
      {"y = a.(x)", "byte 6: line 1, column 7: expected an operator, found '('"},
      {"y = A:(x)", "byte 6: line 1, column 7: expected an overload, found '('"},
      {"y = A<>(x)", "byte 6: line 1, column 7: expected the name of an attribute, found '>'"},
      {"y = A<a = >(x)", "byte 10: line 1, column 11: expected the value of an attribute, found '>'"},
      {"y = A<a = \x01>(x)", "byte 10: line 1, column 11: expected the value of an attribute, found byte 0x01"},
      {"y = A<a: what = 1>(x)", "byte 9: line 1, column 10: 'what' is no attribute type"},
      {"y = A<a: int = 1.5>(x)", "byte 15: line 1, column 16: expected a value of type int, found one of type float"},
      {"y = A<a = [1, \"b\"]>(x)",
       "byte 14: line 1, column 15: expected a value of type int, found one of type string"},
      {"y = A<a = []>(x)", "byte 10: line 1, column 11: an empty list needs the type of the attribute"},
      {"y = A<a: ints = 1>(x)", "byte 16: line 1, column 17: expected a list in [], found '1'"},
      {"y = A<a: int = [1]>(x)", "byte 15: line 1, column 16: expected a value of type int, found a list"},
      {"y = A<a = @>(x)", "byte 11: line 1, column 12: expected the name of an attribute of the function, found '>'"},
      {"y = A<a = - 1>(x)", "byte 10: line 1, column 11: expected a number, found '-'"},
      {"y = A<a = 1e>(x)", "byte 10: line 1, column 11: a number has an exponent without digits"},
      {"y = A<a = 1e400>(x)", "byte 10: line 1, column 11: 1e400 is too large"},
      {"y = A<a = 9223372036854775808>(x)", "byte 10: line 1, column 11: 9223372036854775808 does not fit in 64 bits"},
      {"y = A<a = \"b>(x)", "byte 10: line 1, column 11: a string has no closing quote"},
      {"y = A<a = \"b\\", "byte 10: line 1, column 11: a string has no closing quote"},
      {"y = A<a = seq(b)>(x)", "byte 14: line 1, column 15: expected a type, found 'b'"},
      {"y = A<a = map(b, float)>(x)", "byte 14: line 1, column 15: expected an element type as the key of a map"},
      {"y = A<a = sparse_tensor(seq(float))>(x)", "byte 10: line 1, column 11: a sparse_tensor holds a tensor type"},
      {"y = A<a = seq(float) {1}>(x)", "byte 10: line 1, column 11: only a tensor can have values"},
      {"y = A<a = float[] {1}>(x)", "byte 10: line 1, column 11: a tensor with values needs its shape"},
      {"y = A<a = float[N] {1}>(x)",
       "byte 10: line 1, column 11: the dims of a tensor with values are integers, none negative"},
      {"y = A<a = uint8[1] {256}>(x)", "byte 20: line 1, column 21: 256 does not fit in uint8"},
      {"y = A<a = int2[1] {2}>(x)", "byte 19: line 1, column 20: 2 does not fit in int2"},
      {"y = A<a = float16[1] {1.5}>(x)", "byte 22: line 1, column 23: expected an integer, found 1.5"},
      {"y = A<a = uint64[1] {-1}>(x)",
       "byte 21: line 1, column 22: expected an integer that is not negative, found -1"},
      {"y = A<a = uint64[1] {18446744073709551616}>(x)",
       "byte 21: line 1, column 22: 18446744073709551616 does not fit in 64 bits"},
      {"y = A<a = int64[2] {1 2}>(x)", "byte 22: line 1, column 23: expected '}', found '2'"},
      {"y = A<a = string[1] {1}>(x)", "byte 21: line 1, column 22: expected a string in double quotes, found '1'"},
      {"y = A<g = b (x) -> (y) {}>(x)", "byte 16: line 1, column 17: expected '=>', found '-'"},
      {"y = A<g = b (x) => (y) {", "byte 24: line 1, column 25: expected a node or '}', found the end of the text"},
      {"y = A<g = b (float) => (y) {}>(x)", "byte 18: line 1, column 19: expected the name of a value, found ')'"},
  };
  for (const auto& [text, message] : nodes) EXPECT_EQ(Error(ParseNodeText, text), message) << text;
  EXPECT_EQ(Error(ParseModelText, "<foo: 1> g () => () {}"), "byte 1: line 1, column 2: 'foo' is no keyword here");
  EXPECT_EQ(Error(ParseModelText, ""),
            "byte 0: line 1, column 1: expected the name of a graph, found the end of the text");
  EXPECT_EQ(Error(ParseModelText, "<1>"), "byte 1: line 1, column 2: expected a keyword, found '1'");
  EXPECT_EQ(Error(ParseFunctionText, "<ir_version: 1> f () => () {}"),
            "byte 1: line 1, column 2: 'ir_version' is no keyword here");
  EXPECT_EQ(Error(ParseFunctionText, "f <> () => () {}"),
            "byte 3: line 1, column 4: expected the name of an attribute, found '>'");
  EXPECT_EQ(Error(ParseFunctionText, "<domain: x> f () => () {}"),
            "byte 9: line 1, column 10: expected a string in double quotes, found 'x'");
  EXPECT_EQ(Error(ParseFunctionText, ""),
            "byte 0: line 1, column 1: expected the name of a function, found the end of the text");
  EXPECT_EQ(Error(ParseTypeText, "opaque(a.)"), "byte 9: line 1, column 10: expected an identifier, found ')'");
  EXPECT_EQ(Error(ParseNodeText, "y = A<a: 1>(x)"), "byte 9: line 1, column 10: expected an attribute type, found '1'");
}

TEST(TextParser, DepthIsBounded) {
  std::string types, ends;
  for (int i = 0; i < 20000; ++i) types += "seq(";
  EXPECT_THAT(Error(ParseTypeText, types), HasSubstr("graphs and types are nested more than 96 deep"));
  std::string graph = "g () => () {}";
  for (int i = 0; i < 64; ++i) graph = "g () => () { y = If (c) <b = " + graph + "> }";
  const GraphProto deep = ParseGraphText(graph);
  EXPECT_EQ(ParseWire<GraphProto>(deep.SerializeAsString(), nullptr), deep);
  std::string bomb;
  for (int i = 0; i < 20000; ++i) bomb += "g () => () { y = If (c) <b = ";
  EXPECT_THAT(Error(ParseGraphText, bomb), HasSubstr("graphs and types are nested more than 96 deep"));
}

TEST(TextParser, EveryPrefixIsReadOrRefused) {
  const std::string text = ReadFile(ONNXSEQ_TEST_DATA "/text/model_full.model.txt");
  for (size_t size = 0; size < text.size(); ++size) {
    try {
      ParseModelText(std::string_view(text).substr(0, size));
    } catch (const ModelParseError& e) {
      EXPECT_LE(e.offset(), static_cast<int64_t>(size));
    }
  }
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
