// SPDX-License-Identifier: Apache-2.0
// What is printed reads back: messages of tests/data/text (made by onnx.parser) exactly, others as text_printer.h says.
#include "onnx_io/text_printer.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "model/wire.h"
#include "onnx_io/reader.h"
#include "onnx_io/test_util.h"
#include "onnx_io/text_parser.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

template <class M>
M ReadMessage(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return ParseWire<M>(std::string(std::istreambuf_iterator<char>(file), {}), nullptr);
}

template <class M>
void RoundTrip(const std::filesystem::path& path, std::string (*print)(const M&), M (*parse)(std::string_view)) {
  const M message = ReadMessage<M>(path);
  const std::string text = print(message);
  EXPECT_EQ(parse(text), message) << text;
  EXPECT_EQ(print(parse(text)), text);
}

TEST(TextPrinter, ReadsBackWhatThePackageParsed) {
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ONNXSEQ_TEST_DATA "/text")) {
    if (entry.path().extension() != ".pb") continue;
    const std::string kind = entry.path().stem().extension().string();
    if (kind == ".model") RoundTrip<ModelProto>(entry.path(), PrintModelText, ParseModelText);
    if (kind == ".graph") RoundTrip<GraphProto>(entry.path(), PrintGraphText, ParseGraphText);
    if (kind == ".node") RoundTrip<NodeProto>(entry.path(), PrintNodeText, ParseNodeText);
    if (kind == ".function") RoundTrip<FunctionProto>(entry.path(), PrintFunctionText, ParseFunctionText);
    ++seen;
  }
  EXPECT_EQ(seen, 13);
}

TEST(TextPrinter, Layout) {
  const std::string text =
      "<ir_version: 8, opset_import: [\"\": 17, \"my\": 1], doc_string: \"a \\\"b\\\" \\\\\">\n"
      "g (float[N, 4] x, seq(float[2]) s) => (float[N, \"a b\"] y)\n"
      "  <float[2] w = {1, 2.5},\n"
      "  int64[N] u>\n"
      "{\n"
      "  [first] t = Add(x, w)\n"
      "  \"\", y = my.ns.F:over(t, \"\", \"float\") <k: float = 2, l: ints = []>\n"
      "  z = If(c) <then_branch: graph = b () => (q) {\n"
      "    q = A()\n"
      "  }>\n"
      "}\n"
      "<domain: \"my\", opset_import: [\"\": 17]>\n"
      "f <a, \"b c\": int = 1, d: ints, e: float> (x) => (y) {\n"
      "  y = B(x) <k: float = @a>\n"
      "}\n";
  EXPECT_EQ(PrintModelText(ParseModelText(text)), text);
}

TEST(TextPrinter, Types) {
  for (const std::string text :
       {"float", "float[]", "float[1, N, ?, \"N+1\", \"\", -1]", "seq(optional(int64[N]))", "map(string, float[])",
        "sparse_tensor(double[3])", "sparse_tensor(double)", "sparse_tensor(double[])", "opaque(a.b, c)", "opaque(c)",
        "opaque()", "float[\"seq\"]"})
    EXPECT_EQ(PrintTypeText(ParseTypeText(text)), text);
  TypeProto nothing;
  nothing.ref_sequence_type().ref_elem_type().ref_tensor_type();
  EXPECT_EQ(PrintTypeText(nothing), "");
  TypeProto odd;
  odd.ref_opaque_type().set_name("a b");
  EXPECT_EQ(PrintTypeText(odd), "");
}

TEST(TextPrinter, Numbers) {
  for (const std::string text : {"float[6] w = {0.1, -0, 1e-45, 3.4028235e+38, inf, -inf}",
                                 "float[2] w = {nan, -nan}",
                                 "double[3] w = {0.1, 5e-324, 1.7976931348623157e+308}",
                                 "int64[2] w = {-9223372036854775808, 9223372036854775807}",
                                 "uint64[1] w = {18446744073709551615}",
                                 "uint32[1] w = {4294967295}",
                                 "int8[2] w = {-128, 127}",
                                 "uint8[1] w = {255}",
                                 "int16[1] w = {-32768}",
                                 "uint16[1] w = {65535}",
                                 "bool[2] w = {1, 0}",
                                 "float16[1] w = {15360}",
                                 "bfloat16[1] w = {16256}",
                                 "float8e4m3fn[1] w = {56}",
                                 "int4[3] w = {-8, 7, -1}",
                                 "uint4[3] w = {15, 0, 9}",
                                 "int2[5] w = {-2, -1, 0, 1, -2}",
                                 "uint2[4] w = {3, 2, 1, 0}",
                                 "float4e2m1[3] w = {15, 1, 7}",
                                 "float6e2m3[2] w = {63, 1}",
                                 "complex64[1] w = {1, -2}",
                                 "complex128[1] w = {1, -2}",
                                 "string[3] w = {\"\", \"a\\\"b\\\\\", \"\n\"}",
                                 "float w = {1}",
                                 "float[0, 2] w = {}",
                                 "float[1] \"a b\" = {1}",
                                 "float[1] \"\" = {1}",
                                 "float[1] \"float\" = {1}"})
    EXPECT_EQ(PrintTensorText(ParseTensorText(text)), text);
  // Raw data says the same.
  const TensorProto raw = TensorToProto(TensorFromProto(ParseTensorText("int4[3] w = {-8, 7, -1}")), "w");
  EXPECT_TRUE(raw.has_raw_data());
  EXPECT_EQ(PrintTensorText(raw), "int4[3] w = {-8, 7, -1}");
  EXPECT_EQ(PrintTensorText(ParseTensorText("float[1] w = [\"location\": \"w.bin\", \"offset\": \"4\"]")),
            "float[1] w = [\"location\": \"w.bin\", \"offset\": \"4\"]");
}

std::string Attribute(const std::string& text) { return PrintNodeText(ParseNodeText("y = A(x) <" + text + ">")); }

TEST(TextPrinter, Attributes) {
  for (const std::string text :
       {"a: int = -1", "a: float = 2", "a: float = -nan", "a: string = \"\"", "a: ints = [1, 2]",
        "a: floats = [1, 2.5]", "a: strings = [\"b\", \"\\\\\"]", "a: floats = []", "a: tensor = float[1] w {1}",
        "a: tensor = float {1}", "a: tensors = [float {1}, int64[1] w {2}]", "a: graph = g (x) => (y) {}",
        "a: type_proto = seq(float[N])", "a: type_protos = [float, map(int64, string)]", "a: int = @b",
        "a: int = @\"b c\"", "a: graph = _inf () => () {}", "a: tensor = float[1] = [\"location\": \"w.bin\"]"})
    EXPECT_EQ(Attribute(text), "y = A(x) <" + text + ">");
  EXPECT_EQ(Attribute("a: tensor = float[1] \"b c\" {1}"), "y = A(x) <a: tensor = float[1] {1}>");
  for (const auto& [name, word] : std::vector<std::pair<std::string, std::string>>{
           {"a b/1", "a_b_1"}, {"", "_"}, {"1st", "_1st"}, {"float", "_float"}, {"NaN", "_NaN"}}) {
    NodeProto node = ParseNodeText("y = A(x) <a = g () => () {}>");
    node.mutable_attribute(0)->mutable_g()->set_name(name);
    EXPECT_EQ(PrintNodeText(node), "y = A(x) <a: graph = " + word + " () => () {}>");
  }
  NodeProto untyped = ParseNodeText("y = A(x) <a = 1>");
  untyped.mutable_attribute(0)->clear_type();
  EXPECT_EQ(PrintNodeText(untyped), "y = A(x) <a: int = 1>");
}

TEST(TextPrinter, GraphsHoldOnlyWhatCanBeRead) {
  GraphProto graph = ParseGraphText("g (float x) => (y) {}");
  graph.mutable_output(0)->mutable_type()->ref_tensor_type();
  graph.set_doc_string("gone");
  EXPECT_EQ(PrintGraphText(graph), "g (float x) => (y) {}");
  EXPECT_EQ(PrintModelText(ModelProto()), "\"\" () => () {}\n");
}

TEST(TextPrinter, WhatTheSyntaxCannotSay) {
  const auto error = [](const std::string& node, auto edit) {
    NodeProto message = ParseNodeText(node);
    edit(message);
    return Thrown<Unsupported>([&] { PrintNodeText(message); });
  };
  const std::string node = "[n] y = A(x) <k = 1>", head = "A node \"n\": ";
  EXPECT_EQ(error(node, [](NodeProto& n) { n.set_op_type("a::b"); }),
            "a::b node \"n\": the text syntax cannot name the operator \"a::b\"");
  EXPECT_EQ(error(node, [](NodeProto& n) { n.set_op_type(""); }), "the text syntax cannot name the operator \"\"");
  for (const std::string domain : {"my-domain", "a..b", ".a", "a."})
    EXPECT_EQ(error(node, [&](NodeProto& n) { n.set_domain(domain); }),
              head + "the text syntax cannot name the domain \"" + domain + "\"");
  EXPECT_EQ(error(node, [](NodeProto& n) { n.set_overload("1"); }),
            head + "the text syntax cannot name the overload \"1\"");
  const auto attribute = [&](auto edit) { return error(node, [&](NodeProto& n) { edit(*n.mutable_attribute(0)); }); };
  EXPECT_EQ(attribute([](AttributeProto& a) { a.set_name("k 1"); }),
            head + "the text syntax cannot name the attribute \"k 1\"");
  EXPECT_EQ(attribute([](AttributeProto& a) { a = AttributeProto(), a.set_name("k"); }),
            "A node \"n\", attribute 'k': has no value, which the text syntax cannot say");
  EXPECT_EQ(attribute([](AttributeProto& a) { a.set_type(AttributeProto::SPARSE_TENSOR); }),
            "A node \"n\", attribute 'k': holds sparse tensors, which the text syntax does not have");
  EXPECT_EQ(attribute([](AttributeProto& a) { a.set_type(static_cast<AttributeProto::AttributeType>(99)); }),
            "A node \"n\", attribute 'k': has type 99, which the text syntax does not have");
  EXPECT_EQ(attribute([](AttributeProto& a) { a.set_type(AttributeProto::TYPE_PROTO); }),
            "A node \"n\", attribute 'k': holds a type the text syntax has no words for");
  EXPECT_EQ(attribute([](AttributeProto& a) { a.set_type(AttributeProto::TENSOR); }),
            "A node \"n\", tensor \"\": has element type 0, which the text syntax has no word for");
  GraphProto graph;
  graph.add_sparse_initializer();
  EXPECT_EQ(Thrown<Unsupported>([&] { PrintGraphText(graph); }),
            "the text syntax has no sparse initializers, the graph has 1");
  ModelProto model;
  model.add_training_info();
  EXPECT_EQ(Thrown<Unsupported>([&] { PrintModelText(model); }),
            "the text syntax has no training information, the model has");
  TensorProto tensor = ParseTensorText("float[2] w = {1}");
  EXPECT_EQ(Thrown<InvalidArgument>([&] { PrintTensorText(tensor); }),
            "tensor \"w\": has 1 values in float_data, tensor(float)[2] needs 2");
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
